# SPDX-License-Identifier: Apache-2.0
"""pipeline: order, failure, Ctrl-C, output, summary, mistakes in the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from warpool_cli import PYTHON, Cli

STAGE_KEYS = {
    "name", "label", "status", "exit_status", "signal", "elapsed_ms", "peak_memory_bytes", "programs",
    "arrays_published", "arrays_got", "published_bytes", "got_bytes", "shared_bytes", "copied_bytes", "copies",
}  # fmt: skip


def stage(name: str, command: str | list[str], **more: Any) -> str:
    pairs = {"name": name, "command": command} | more
    return "[[stage]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in pairs.items())


def test_two_programs_share_an_array(cli: Cli) -> None:
    cli.write("make.py", "import warpool, numpy as np\nwith warpool.create('x', (1 << 18,), 'float64') as d: d[:] = 3\n")
    cli.write("use.py", "import warpool\nprint(float(warpool.get('x', wait=20)[7]))\n")
    # Started together: the second waits for the array of the first.
    cli.write("p.toml", stage("use", [PYTHON, "use.py"]) + stage("make", [PYTHON, "make.py"], label="the maker"))
    done = cli.run("pipeline", "p.toml", "--json")
    facts = json.loads(done.stdout)
    assert (facts["ended_by"], facts["exit_code"]) == ("ok", 0)
    use, make = facts["stages"]
    assert set(use) == STAGE_KEYS
    assert use["shared_bytes"] == 2 << 20
    assert make["published_bytes"] == 2 << 20
    assert make["copies"] == {}
    assert make["label"] == "the maker"
    assert done.stderr == "use  | 3.0\n"


def test_output_and_summary(cli: Cli, golden: Any) -> None:
    cli.write("p.toml", stage("one", "echo out; echo err >&2") + stage("second", "echo later", depends=["one"]))
    done = cli.run("pipeline", "p.toml")
    golden("pipeline-out", done.stdout)
    assert done.stderr.startswith("one    | err\n\nSTAGE")
    assert done.stderr.rstrip().splitlines()[-1].startswith("All stages ended well in ")


def test_order_follows_the_dependencies(cli: Cli) -> None:
    log = "echo $WARPOOL_LABEL >> log"
    text = stage("c", f"{log}", depends=["b"]) + stage("a", f"sleep 0.2; {log}") + stage("b", log, depends=["a"])
    cli.write("p.toml", text)
    cli.run("pipeline", "p.toml")
    assert (cli.folder / "log").read_text() == "a\nb\nc\n"


def test_failure_ends_all(cli: Cli) -> None:
    text = stage("bad", "sleep 0.2; exit 5") + stage("long", "sleep 60") + stage("never", "true", depends=["bad"])
    cli.write("p.toml", text)
    start = time.monotonic()
    done = cli.run("pipeline", "p.toml", "--json", code=1)
    assert time.monotonic() - start < 10
    facts = json.loads(done.stdout)
    assert facts["ended_by"] == "stage_failed"
    assert [entry["status"] for entry in facts["stages"]] == ["failed", "stopped", "skipped"]
    assert [entry["exit_status"] for entry in facts["stages"]] == [5, None, None]
    assert facts["stages"][1]["signal"] == signal.SIGTERM
    assert "ended with exit status 5; ending the other stages" in done.stderr


def test_ctrl_c_ends_all_and_leaves_nothing(cli: Cli) -> None:
    cli.write("p.toml", stage("a", "echo $$ > a.pid; sleep 60 & wait") + stage("b", "echo $$ > b.pid; exec sleep 60"))
    pipeline = cli.popen("pipeline", "p.toml")
    pids = [wait_for_pid(cli.folder / name) for name in ("a.pid", "b.pid")]
    pipeline.send_signal(signal.SIGINT)
    _, err = pipeline.communicate(timeout=20)
    assert pipeline.returncode == 130
    assert "Interrupted after " in err
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()


def test_second_ctrl_c_kills(cli: Cli) -> None:
    cli.write("p.toml", stage("stubborn", "trap '' TERM INT; echo $$ > pid; while :; do sleep 0.05; done"))
    pipeline = cli.popen("pipeline", "p.toml", "--grace", "60s")
    wait_for_pid(cli.folder / "pid")
    start = time.monotonic()
    pipeline.send_signal(signal.SIGINT)
    time.sleep(0.3)
    pipeline.send_signal(signal.SIGINT)
    pipeline.communicate(timeout=20)
    assert pipeline.returncode == 130
    assert time.monotonic() - start < 15


def test_sigterm_ends_all(cli: Cli) -> None:
    cli.write("p.toml", stage("a", "echo $$ > pid; exec sleep 60"))
    pipeline = cli.popen("pipeline", "p.toml")
    pid = wait_for_pid(cli.folder / "pid")
    pipeline.terminate()
    pipeline.communicate(timeout=20)
    assert pipeline.returncode == 143
    assert not Path(f"/proc/{pid}").exists()


def test_killed_pipeline_leaves_no_stage(cli: Cli) -> None:
    cli.write("p.toml", stage("a", "echo $$ > pid; exec sleep 60"))
    pipeline = cli.popen("pipeline", "p.toml")
    pid = wait_for_pid(cli.folder / "pid")
    pipeline.kill()
    pipeline.communicate(timeout=20)
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pid)


def test_closed_output_ends_all(cli: Cli) -> None:
    cli.write("p.toml", stage("a", "echo $$ > pid; while :; do echo line; done"))
    done = subprocess.run(
        ["bash", "-c", f"'{cli.program}' pipeline p.toml | head -1; exit ${{PIPESTATUS[0]}}"],
        env=cli.env, cwd=cli.folder, capture_output=True, text=True, timeout=30, check=False,
)  # fmt: skip
    assert done.stdout == "a | line\n"
    assert done.returncode == 141
    assert not alive(wait_for_pid(cli.folder / "pid"))


def test_huge_lines_and_binary_output(cli: Cli) -> None:
    raw = bytes(byte for byte in os.urandom(3000) if byte not in b"\r\n")
    (cli.folder / "raw").write_bytes(raw)
    cli.write("p.toml", stage("a", "head -c 1000000 /dev/zero | tr '\\0' x; echo; cat raw"))
    done = subprocess.run(
        [cli.program, "pipeline", "p.toml"], env=cli.env, cwd=cli.folder, capture_output=True, timeout=30, check=False
    )
    lines = done.stdout.split(b"\n")
    assert all(line.startswith(b"a | ") for line in lines[:-1])
    assert b"".join(line[4:] for line in lines) == b"x" * 1_000_000 + raw


def test_stage_environment_and_folder(cli: Cli) -> None:
    (cli.folder / "sub").mkdir()
    cli.write("sub/p.toml", stage("a", "echo $X $WARPOOL_LABEL; pwd", label="l") + '[stage.env]\nX = "5"\n')
    assert cli.run("pipeline", "sub/p.toml").stdout == f"a | 5 l\na | {cli.folder / 'sub'}\n"


def test_command_that_does_not_exist(cli: Cli) -> None:
    cli.write("p.toml", stage("a", ["no-such-program"]))
    done = cli.run("pipeline", "p.toml", "--json", code=1)
    (entry,) = json.loads(done.stdout)["stages"]
    assert entry["message"] == "cannot start: no-such-program: No such file or directory"
    assert set(entry) == STAGE_KEYS | {"message"}


def test_mistakes_have_lines(cli: Cli, golden: Any) -> None:
    cli.write("syntax.toml", '[[stage]]\nname = "a\n')
    cli.write("many.toml", stage("a", [], depend=["b"]) + '[[stage]]\ncommand = "x"\n[extra]\n')
    cli.write("names.toml", stage("a", "x", depends=["prepar"]) + stage("prepare", "x") + stage("a", "x"))
    cli.write("cycle.toml", stage("a", "x", depends=["b"]) + stage("b", "x", depends=["a"]))
    text = "".join(cli.run("pipeline", f"{name}.toml", code=2).stderr for name in ("syntax", "many", "names", "cycle"))
    golden("pipeline-mistakes", text)
    cli.run("pipeline", "nowhere.toml", code=3)
    cli.run("status", code=7)


def test_dry_run_starts_nothing(cli: Cli, golden: Any) -> None:
    cli.write("p.toml", stage("b", "echo b", depends=["a"]) + stage("a", ["echo", "a"]))
    golden("pipeline-dry-run", cli.run("pipeline", "p.toml", "--dry-run").stdout)
    assert cli.json("pipeline", "p.toml", "--dry-run")["stages"][1] == {
        "name": "b", "label": "b", "wave": 2, "command": ["/bin/sh", "-c", "echo b"], "env": {}, "dir": ".",
        "depends": ["a"],
    }  # fmt: skip
    cli.run("status", code=7)


def wait_for_pid(path: Path) -> int:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if path.exists() and path.read_text().endswith("\n"):
            return int(path.read_text())
        time.sleep(0.01)
    raise AssertionError(f"{path} did not appear")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
