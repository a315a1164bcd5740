# SPDX-License-Identifier: Apache-2.0
"""up, down, status, ps, version."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from warpool_cli import PYTHON, SOURCE, Cli

STATUS_KEYS = {
    "running", "socket", "version", "protocol", "epoch", "pid", "keeper_pid", "private", "uptime_ms", "restarts",
    "lost_arrays", "arrays", "programs", "memory",
}  # fmt: skip
PROGRAM_KEYS = {
    "session", "pid", "uid", "user", "alive", "language", "label", "command", "container", "waiting_for",
    "connected_ms", "idle_ms", "waits", "waited_ms", "arrays_published", "arrays_got", "published_bytes", "got_bytes",
    "shared_bytes", "copied_bytes", "copies", "memory",
}  # fmt: skip


def test_up_status_down(cli: Cli, golden: Any) -> None:
    golden("up", cli.run("up", "--max-memory", "64M").stdout)
    golden("status", cli.run("status").stdout)
    golden("up-again", cli.run("up").stdout)
    golden("down", cli.run("down").stdout)
    assert not cli.socket.exists()
    golden("down-again", cli.run("down").stdout)


def test_status_json(cli: Cli) -> None:
    started = cli.json("up", "--max-memory", "64M")
    assert started["started"] is True
    assert cli.json("up")["started"] is False
    status = cli.json("status")
    assert set(status) == STATUS_KEYS
    assert status["memory"]["limit_bytes"] == 64 << 20
    assert all(isinstance(value, int) for value in status["memory"].values())
    assert status["programs"] == 0, "the command itself is no program that counts"
    assert cli.json("down") == {"stopped": True}
    assert cli.json("down") == {"stopped": False}


def test_no_broker(cli: Cli, golden: Any) -> None:
    done = cli.run("status", code=7)
    golden("status-no-broker", done.stderr)
    assert done.stdout == ""
    assert cli.json("status", code=7)["running"] is False
    for command in (["ls"], ["ps"], ["info", "x"], ["rm", "x"], ["chmod", "600", "x"], ["save", "x", "f"]):
        assert "warpool up" in cli.run(*command, code=7).stderr


def test_up_with_other_options_than_the_running_one(cli: Cli) -> None:
    cli.run("up", "--max-memory", "64M")
    assert "warpool down" in cli.run("up", "--max-memory", "65M", code=1).stderr
    assert "warpool down" in cli.run("up", "--foreground", code=1).stderr
    cli.run("up", "--max-memory", "65536K")


def test_up_refuses_a_wrong_size_and_a_shared_folder(cli: Cli) -> None:
    assert "512M" in cli.run("up", "--max-memory", "lots", code=2).stderr
    cli.socket.parent.mkdir()
    cli.socket.parent.chmod(0o777)
    assert "chmod o-w" in cli.run("up", code=4).stderr
    cli.socket.parent.chmod(0o700)


def test_up_foreground_ends_with_ctrl_c(cli: Cli) -> None:
    broker = cli.popen("up", "--foreground")
    deadline = time.monotonic() + 20
    while subprocess.run([cli.program, "status"], env=cli.env, capture_output=True, check=False).returncode != 0:
        assert broker.poll() is None, "the broker ended"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    broker.send_signal(signal.SIGINT)
    broker.communicate(timeout=10)
    cli.run("status", code=7)


def test_socket_option(cli: Cli) -> None:
    other = cli.folder / "o" / "w.sock"
    cli.run("up", "--socket", other)
    assert cli.json("status", "--socket", other)["socket"] == str(other)
    cli.run("status", code=7)
    cli.run("down", "--socket", other)


def test_down_refuses_while_programs_are_connected(cli: Cli) -> None:
    cli.run("up")
    program = connected_program(cli)
    try:
        assert "--force" in cli.run("down", code=1).stderr
        cli.run("down", "--force")
    finally:
        program.kill()
        program.wait()


def test_ps(cli: Cli, golden: Any) -> None:
    cli.run("up")
    assert cli.run("ps").stderr == "No programs are connected.\n"
    program = connected_program(cli)
    try:
        listed = cli.json("ps")
        assert listed["count"] == 1
        entry = listed["programs"][0]
        assert set(entry) == PROGRAM_KEYS
        assert (entry["pid"], entry["language"], entry["label"]) == (program.pid, "python", "lab el")
        assert entry["copies"]["inline"]["count"] == 1
        table = cli.run("ps").stdout
        assert table.splitlines()[0].split()[:5] == ["PID", "USER", "LANGUAGE", "LABEL", "STATE"]
        assert "lab el" in table and "inline 8 B in 1 copy" in table
    finally:
        program.kill()
        program.wait()


def connected_program(cli: Cli) -> subprocess.Popen[str]:
    code = "import warpool, time; warpool.put('x', 1.0); warpool.get('x'); warpool.ls(); print('ready', flush=True); time.sleep(60)"
    program = subprocess.Popen(
        [PYTHON, "-c", code], env=cli.env | {"WARPOOL_LABEL": "lab el"}, stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    return program


def test_something_else_at_the_socket_is_said(cli: Cli) -> None:
    cli.socket.parent.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(cli.socket))
    listener.listen()
    done = cli.run("status", code=7)
    assert str(cli.socket) in done.stderr
    listener.close()
    Path(cli.socket).unlink()


def test_admin_socket(cli: Cli) -> None:
    cli.run("up", "--max-memory", "64M")
    assert cli.json("status", "--admin")["running"]
    assert cli.json("ps", "--admin")["count"] == 0


def test_json_keys_are_in_the_reference_page() -> None:
    page = (SOURCE / "docs" / "commands.md").read_text()
    for command, keys in (("status", STATUS_KEYS), ("ps", PROGRAM_KEYS)):
        section = page.split(f"## warpool {command}\n")[1].split("\n## ")[0]
        for key in keys:
            assert key in section, (command, key)


def test_broker_that_is_killed_comes_back_with_its_arrays(cli: Cli) -> None:
    cli.publish("x", 1.0)
    pid = cli.json("status")["pid"]
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        done = subprocess.run([cli.program, "status", "--json"], env=cli.env, capture_output=True, text=True, check=False)
        if done.returncode == 0 and json.loads(done.stdout)["pid"] != pid:
            break
        time.sleep(0.02)
    assert cli.json("status")["restarts"] == 1
    assert "1 (no array was lost by them)" in cli.run("status").stdout
    assert cli.json("ls")["count"] == 1


def test_version(cli: Cli) -> None:
    facts = cli.json("version")
    assert set(facts) == {"version", "library_version"}
    cli.run("up")
    assert set(cli.json("version")) == {"version", "library_version", "broker_version", "protocol"}
    assert cli.run("--version").stdout == f"warpool {facts['version']}\n"


def test_files_of_the_user_are_not_taken_for_sockets_or_lists(cli: Cli) -> None:
    folder = cli.socket.parent
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in ("thesis.csv", "w.sock.names"):
        (folder / name).write_text("precious")
    done = subprocess.run(
        [cli.program, "up", "--socket", folder / "thesis.csv"], env=cli.env, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    subprocess.run([cli.program, "up", "--socket", folder / "w.sock"], env=cli.env, check=True, capture_output=True)
    subprocess.run([cli.program, "down", "--socket", folder / "w.sock"], env=cli.env, check=True, capture_output=True)
    for name in ("thesis.csv", "w.sock.names"):
        assert (folder / name).read_text() == "precious"


def test_two_brokers_in_one_folder_are_stopped_apart(cli: Cli) -> None:
    folder = cli.socket.parent
    folder.mkdir(mode=0o700, exist_ok=True)
    sockets = [folder / "one.sock", folder / "two.sock"]
    for path in sockets:
        subprocess.run([cli.program, "up", "--socket", path], env=cli.env, check=True, capture_output=True)
    pids = [cli.json("status", "--socket", str(path))["pid"] for path in sockets]
    assert pids[0] != pids[1]
    assert cli.json("status", "--admin", "--socket", str(sockets[0]))["pid"] == pids[0]
    cli.run("down", "--socket", str(sockets[0]))
    assert cli.json("status", "--socket", str(sockets[1]))["pid"] == pids[1]
    cli.run("down", "--socket", str(sockets[1]))
    assert [entry.name for entry in folder.iterdir() if "names" in entry.name] == []


def test_down_says_that_a_stopped_broker_is_still_there(cli: Cli) -> None:
    cli.publish("x", 1.0)
    pid = cli.json("status")["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        done = cli.run("down", "--force", code=7)
        assert "does not answer" in done.stderr
    finally:
        os.kill(pid, signal.SIGCONT)
    cli.run("down", "--force")


def test_save_does_not_replace_what_is_no_file(cli: Cli, tmp_path: Path) -> None:
    cli.publish("x", 1.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (str(pipe), str(tmp_path), ""):
        done = cli.run("save", "x", target, code=2)
        assert "no file that can be written" in done.stderr
    assert pipe.is_fifo()
