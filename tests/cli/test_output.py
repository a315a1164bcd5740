# SPDX-License-Identifier: Apache-2.0
"""Colours, closed and full outputs, help, completions, generated documentation, doctor."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from warpool_cli import PYTHON, SOURCE, Cli

COMMANDS = [
    "run", "pipeline", "ls", "info", "watch", "rm", "chmod", "expire", "save", "load", "up", "down", "status", "ps",
    "doctor", "completion", "version",
]  # fmt: skip


def on_a_terminal(cli: Cli, *words: str, **env: str) -> str:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(cli.program, [str(cli.program), *words], cli.env | env)
    text = b""
    try:
        while chunk := os.read(terminal, 4096):
            text += chunk
    except OSError:
        pass  # The terminal closes with its last program.
    os.close(terminal)
    os.waitpid(pid, 0)
    return text.decode()


def test_colours_only_on_a_terminal(cli: Cli) -> None:
    cli.publish("x", 1.0)
    assert "\x1b[" in on_a_terminal(cli, "ls")
    assert "\x1b[" not in on_a_terminal(cli, "ls", NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(cli, "ls", TERM="dumb")
    assert "\x1b[" not in on_a_terminal(cli, "ls", "--color", "never")
    assert "\x1b[" not in cli.run("ls").stdout
    assert "\x1b[" in cli.run("ls", "--color", "always", NO_COLOR="1").stdout


def test_labels_cannot_steer_the_terminal(cli: Cli) -> None:
    code = "import warpool; warpool.put('x', 1.0)"
    subprocess.run([PYTHON, "-c", code], env=cli.env | {"WARPOOL_LABEL": "\x1b[2Jevil"}, check=True)
    table = cli.run("ls").stdout
    assert "[2Jevil" in table
    assert "\x1b" not in table


def test_reader_that_stops_early(cli: Cli) -> None:
    for i in range(3):
        cli.publish(f"x{i}", 1.0)
    script = f"'{cli.program}' ls --names | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], env=cli.env, capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.splitlines()[0] == "x0"
    assert done.stdout.splitlines()[1] in ("0", "141"), "0 if all was written before head ended"
    assert done.stderr == ""
    closed = subprocess.run(
        ["bash", "-c", f"exec '{cli.program}' ls > >(exec true); sleep 0"],
        env=cli.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert closed.stderr == ""


def test_reader_that_is_gone(cli: Cli) -> None:
    cli.publish("x", 1.0)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([cli.program, "ls"], env=cli.env, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == ""


def test_full_disk_is_an_error(cli: Cli) -> None:
    cli.publish("x", 1.0)
    with open("/dev/full", "w") as full:
        done = subprocess.run([cli.program, "ls"], env=cli.env, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_mistyped_words(cli: Cli) -> None:
    assert "did you mean `warpool pipeline`?" in cli.run("pipline", code=2).stderr
    assert "did you mean --json?" in cli.run("ls", "--jsn", code=2).stderr
    assert 'there is no command "frobnicate"\n' in cli.run("frobnicate", code=2).stderr
    assert '"b" is one argument too many' in cli.run("ls", "a", "b", code=2).stderr
    assert "no command was given" in cli.run(code=2).stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli: Cli, command: str) -> None:
    text = cli.run(command, "--help").stdout
    assert f"Usage: warpool {command} [OPTIONS]" in text
    assert "Examples:" in text


def test_reference_page_is_what_the_parser_says(cli: Cli) -> None:
    page = (SOURCE / "docs" / "commands.md").read_text()
    remedy = "run: build/release/bin/warpool --generate-docs markdown --output docs/commands.md"
    assert cli.run("--generate-docs", "markdown").stdout == page, remedy


def test_reference_page_names_every_key_of_ls(cli: Cli) -> None:
    cli.publish("x", 1.0)
    page = (SOURCE / "docs" / "commands.md").read_text()
    info = page[page.index("## warpool info") : page.index("## warpool watch")]
    for key in cli.json("info", "x"):
        assert key in info


def test_manual_pages(cli: Cli) -> None:
    cli.run("--generate-docs", "man", "--output", cli.folder / "man")
    pages = sorted(path.name for path in (cli.folder / "man").iterdir())
    assert pages == sorted(["warpool.1", *(f"warpool-{command}.1" for command in COMMANDS)])
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed: the pages were made, but not formatted")
    for page in pages:
        done = subprocess.run(
            ["groff", "-man", "-Tascii", "-ww", "-z", cli.folder / "man" / page], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), page


def complete(cli: Cli, *words: str) -> list[str]:
    """What bash offers for the last word."""
    script = (
        f"source <('{cli.program}' completion bash); COMP_WORDS=({' '.join(map(repr, words))}); "
        f"COMP_CWORD={len(words) - 1}; _warpool 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "-c", script], env=cli.env, cwd=cli.folder, capture_output=True, text=True, timeout=30, check=False
    )
    return done.stdout.split()


def test_bash_completion(cli: Cli) -> None:
    cli.publish("lab/x", 1.0)
    cli.publish("lab/y", 1.0)
    assert complete(cli, "warpool", "pi") == ["pipeline"]
    assert complete(cli, "warpool", "ls", "--js") == ["--json"]
    assert complete(cli, "warpool", "ls", "--color", "al") == ["always"]
    assert complete(cli, "warpool", "rm", "lab/") == ["lab/x", "lab/y"]
    assert complete(cli, "warpool", "chmod", "640", "lab/x") == ["lab/x"]
    assert complete(cli, "warpool", "save", "lab/x", "publ") == ["publish.npy"]
    assert complete(cli, "warpool", "completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_completions_parse(cli: Cli, shell: str) -> None:
    script = cli.run("completion", shell).stdout
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b", script)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: the script was made, but not parsed")
    path = cli.write("script", script)
    subprocess.run([shell, "-n", path], check=True)


def test_doctor_without_a_broker_leaves_nothing(cli: Cli) -> None:
    temporary = cli.folder / "tmp"
    temporary.mkdir()
    done = cli.run("doctor", "--python", PYTHON, "--octave", "no-such-octave", TMPDIR=str(temporary))
    assert "one starts when a program needs it (tried)" in done.stdout
    assert "published and got an array of 1 MiB without a copy" in done.stdout
    assert "Python 3." in done.stdout and "with NumPy" in done.stdout
    assert "GNU Octave is not installed" in done.stdout
    assert "this version does not use a GPU" in done.stdout
    assert done.stdout.endswith("Sharing arrays works here.\n")
    assert list(temporary.iterdir()) == []
    cli.run("status", code=7)


def test_doctor_with_a_broker(cli: Cli) -> None:
    cli.run("up", "--max-memory", "64M")
    facts = cli.json("doctor", "--python", PYTHON, "--octave", "no-such-octave")
    assert facts["works"] is True
    verdicts = {check["check"]: check["verdict"] for check in facts["checks"]}
    for check in ("memfd", "broker", "socket-folder", "sharing", "memory-budget", "python", "python-package"):
        assert verdicts[check] == "ok", facts
    for check in facts["checks"]:
        assert set(check) == {"check", "verdict", "what", "remedy"}
        assert check["verdict"] in ("ok", "note") or check["remedy"]
    assert cli.json("ls")["count"] == 0, "the trial array is gone"


def test_doctor_says_what_is_wrong(cli: Cli) -> None:
    done = cli.run("doctor", "--python", "no-such-python", "--octave", "no-such-octave", code=1, WARPOOL_BROKER="/no/broker")
    assert "failed   broker" in done.stdout
    assert "/no/broker" in done.stdout
    assert "Sharing arrays does not work here" in done.stdout


def test_closed_standard_output_does_no_harm(cli: Cli) -> None:
    path = Path(cli.folder) / "out.npy"
    cli.publish("x", 1.0)
    before = cli.run("save", "x", path)
    content = path.read_bytes()
    subprocess.run(["bash", "-c", f"'{cli.program}' save x '{path}' >&-"], env=cli.env, check=False, timeout=30)
    assert before.returncode == 0
    assert path.read_bytes() == content
