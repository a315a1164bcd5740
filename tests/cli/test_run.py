# SPDX-License-Identifier: Apache-2.0
"""run: exit status, environment, signals, the line at the end."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from typing import Any

import pytest
from warpool_cli import PYTHON, Cli

SUMMARY = re.compile(r"^warpool: \S+ (ms|s), \S+ [KM]iB peak memory, shared .*\n\Z", re.MULTILINE)


def test_exit_status_and_summary(cli: Cli, golden: Any) -> None:
    done = cli.run("run", "--", "sh", "-c", "echo out; echo err >&2; exit 3", code=3)
    assert done.stdout == "out\n"
    assert done.stderr.startswith("err\n")
    assert SUMMARY.search(done.stderr)
    assert done.stderr.endswith("shared 0 B, no copies\n")
    assert done.stderr.count("\n") == 2, "one line and no more"


def test_a_broker_is_started(cli: Cli) -> None:
    cli.run("status", code=7)
    cli.run("run", "--", "true")
    assert cli.json("status")["private"] is True


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (["/no/such/program"], 127, "No such file"),
        (["no-such-program"], 127, "No such file"),
        (["/etc/passwd"], 126, "Permission denied"),
        (["sh", "-c", "kill -9 $$"], 137, "warpool: "),
        (["sh", "-c", "kill -TERM $$"], 143, "warpool: "),
    ],
)
def test_status_as_in_a_shell(cli: Cli, command: list[str], code: int, message: str) -> None:
    assert message in cli.run("run", "--", *command, code=code).stderr


def test_wrong_usage(cli: Cli) -> None:
    assert "python3 train.py" in cli.run("run", code=2).stderr
    assert "there is no option --labl; did you mean --label?" in cli.run("run", "--labl", "x", "ls", code=2).stderr


def test_options_of_the_program_are_its_own(cli: Cli) -> None:
    assert cli.run("run", "echo", "--label", "--json", "-h").stdout == "--label --json -h\n"
    assert cli.run("run", "--", "echo", "--", "x").stdout == "-- x\n"


def test_without_a_broker_the_command_does_not_start(cli: Cli) -> None:
    done = cli.run("run", "--", "echo", "started", code=125, WARPOOL_BROKER="/no/broker")
    assert done.stdout == ""
    assert "/no/broker" in done.stderr


def test_environment(cli: Cli) -> None:
    command = ["sh", "-c", "echo $WARPOOL_LABEL $WARPOOL_SOCKET; echo $WARPOOL_RUN"]
    label, run = cli.run("run", "--label", "my", "--", *command).stdout.splitlines()
    assert label == f"my {cli.socket}"
    assert re.fullmatch(r"[0-9a-f]{16}", run)
    assert cli.run("run", "--", *command).stdout.splitlines()[1] != run
    assert cli.run("run", "--", *command, WARPOOL_LABEL="outer").stdout.startswith("outer ")


def test_bytes_shared_and_copies_are_those_of_the_run(cli: Cli) -> None:
    code = (
        "import warpool, numpy as np\n"
        "warpool.put('put', np.ones(1 << 17))\n"
        "with warpool.create('born', (1 << 18,), 'float64') as draft: draft[:] = 1\n"
        "assert warpool.get('born')[5] == 1\n"
    )
    cli.write("other.py", "import warpool; warpool.put('other', bytes(1))\n")
    first = summary(cli, code)
    assert first["arrays_published"] == 2
    assert first["published_bytes"] == 3 << 20
    assert first["shared_bytes"] == 2 << 20
    assert first["copies"] == {"put": {"count": 1, "bytes": 1 << 20}}
    assert first["copied_bytes"] == 1 << 20
    assert first["programs"] == 1
    second = summary(cli, "import warpool; warpool.get('put')")
    assert second["arrays_published"] == 0, "another run's numbers"
    assert second["shared_bytes"] == 1 << 20


def test_children_belong_to_the_run(cli: Cli) -> None:
    code = (
        "import subprocess, sys\n"
        "for _ in range(2): subprocess.run([sys.executable, '-c', 'import warpool; warpool.put(\"x\", 1.0)'], check=True)\n"
    )
    assert summary(cli, code)["programs"] == 2


def summary(cli: Cli, code: str) -> Any:
    facts = json.loads(cli.run("run", "--json", "--", PYTHON, "-c", code).stderr)
    assert set(facts) == {
        "run", "exit_code", "elapsed_ms", "peak_memory_bytes", "programs", "arrays_published", "arrays_got",
        "published_bytes", "got_bytes", "shared_bytes", "copied_bytes", "copies",
    }  # fmt: skip
    return facts


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_are_passed_on(cli: Cli, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")
    run = cli.popen("run", "--", "sh", "-c", f"trap 'echo got {name}; exit 9' {name}; echo ready; while :; do sleep 0.05; done")
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    run.send_signal(number)
    out, err = run.communicate(timeout=10)
    assert out == f"got {name}\n"
    assert run.returncode == 9
    assert SUMMARY.search(err)


def test_ctrl_c_of_a_terminal_arrives_once(cli: Cli) -> None:
    # It takes signals as fast as it can: two of a kind that wait together would count as one.
    code = (
        "import signal, time\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"
        "print('ready', flush=True)\n"
        "count, end = 0, time.monotonic() + 5\n"
        "while time.monotonic() < end:\n"
        "    if signal.sigtimedwait([signal.SIGINT], 0):\n"
        "        count, end = count + 1, time.monotonic() + 0.5\n"
        "print('count', count, flush=True)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cli.folder)
        os.execve(cli.program, [str(cli.program), "run", "--", PYTHON, "-c", code], cli.env)
    text = b""
    while b"ready" not in text:
        text += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    try:
        while True:
            text += os.read(terminal, 1024)
    except OSError:
        pass  # The terminal closes with its last program.
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"count 1" in text


def test_standard_input_reaches_the_program(cli: Cli) -> None:
    done = subprocess.run(
        [cli.program, "run", "--", "cat"], env=cli.env, input=b"bytes \xff\n", capture_output=True, timeout=30, check=False
    )
    assert done.stdout == b"bytes \xff\n"
