# SPDX-License-Identifier: Apache-2.0
"""ls, info, rm, chmod, expire, save, load, watch."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import Any

import numpy as np
import pytest
from warpool_cli import PYTHON, Cli

ARRAY_KEYS = {
    "name", "owner", "owner_uid", "id", "version", "mode", "size_bytes", "created_unix_ns", "expires_in_ms", "viewers",
    "inline", "removed", "while_used", "maker", "attributes", "type", "parts",
}  # fmt: skip


def test_ls_and_info(cli: Cli, golden: Any) -> None:
    cli.publish("lab/big", np.zeros((1000, 784)), "--mode", "640")
    cli.publish("lab/small", np.arange(12, dtype=np.int32).reshape(3, 4, order="F"))
    cli.publish("scalar", np.float32(1))
    cli.publish("scalar", np.float32(2))
    golden("ls", cli.run("ls").stdout)
    golden("ls-pattern", cli.run("ls", "lab/*").stdout)
    golden("ls-names", cli.run("ls", "--names").stdout)
    golden("info", cli.run("info", "lab/big").stdout)
    assert cli.run("ls", "nothing*").stdout == ""
    assert cli.run("ls", "nothing*").stderr == "No arrays match nothing*.\n"


def test_ls_json(cli: Cli) -> None:
    cli.publish("a", np.zeros((2, 3)))
    cli.publish("b", np.asfortranarray(np.zeros((200, 300), np.complex64)))
    listed = cli.json("ls")
    assert [entry["name"] for entry in listed["arrays"]] == ["a", "b"]
    assert listed["count"] == 2
    assert listed["size_bytes"] == sum(entry["size_bytes"] for entry in listed["arrays"])
    for entry in listed["arrays"]:
        assert set(entry) == ARRAY_KEYS
    part = cli.json("info", "b")["parts"][0]
    assert part == {
        "path": "", "kind": "array", "dtype": "complex64", "shape": [200, 300], "strides_bytes": [8, 1600],
        "offset_bytes": 0, "order": "F",
    }  # fmt: skip


def test_structs_show_their_parts(cli: Cli, golden: Any) -> None:
    code = "import warpool; warpool.put('s', {'name': 'ten', 'values': [1.0, 2.0]}, attrs={'unit': 'mV'})"
    subprocess.run([PYTHON, "-c", code], env=cli.env, check=True)
    golden("info-struct", cli.run("info", "s").stdout)
    assert cli.json("info", "s")["attributes"] == {"unit": "mV"}


def test_versions(cli: Cli) -> None:
    cli.publish("x", 1.0)
    cli.publish("x", 2.0)
    assert cli.json("info", "x")["version"] == 2
    assert cli.json("info", "x@2")["version"] == 2
    cli.run("info", "x@99", code=3)
    assert "NAME@3" in cli.run("info", "x@zero", code=2).stderr
    cli.run("rm", "x@1", code=3)
    cli.run("rm", "x@2")


def test_removed_but_viewed(cli: Cli) -> None:
    cli.run("up")
    code = (
        "import warpool, numpy, time; warpool.put('x', numpy.ones(100_000)); a = warpool.get('x');"
        "print('ready', flush=True); time.sleep(60)"
    )
    program = subprocess.Popen([PYTHON, "-c", code], env=cli.env, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        assert cli.json("info", "x")["viewers"] == 1
        cli.run("rm", "x")
        assert cli.json("ls")["count"] == 0
        (entry,) = cli.json("ls", "--removed")["arrays"]
        assert entry["removed"] is True
        assert "x (removed)" in cli.run("ls", "--removed").stdout
    finally:
        program.kill()
        program.wait()


def test_rm_goes_on_after_a_failure(cli: Cli, golden: Any) -> None:
    cli.publish("a", 1.0)
    cli.publish("b", 1.0)
    done = cli.run("rm", "a", "nope", "b", code=3)
    assert done.stdout == "removed a\nremoved b\n"
    assert 'there is no array "nope"' in done.stderr
    assert cli.json("ls")["count"] == 0
    answer = cli.json("rm", "nope", code=3)
    assert answer["done"] == []
    assert answer["failed"][0]["exit_code"] == 3


def test_chmod(cli: Cli) -> None:
    cli.publish("x", 1.0)
    assert cli.run("chmod", "640", "x").stdout == "mode 0640 x\n"
    assert cli.json("chmod", "o+r", "x")["done"] == [{"name": "x", "mode": "0644"}]
    assert cli.json("info", "x")["mode"] == "0644"
    cli.run("chmod", "go-r", "x")
    assert cli.json("info", "x")["mode"] == "0600"
    assert "octal digits" in cli.run("chmod", "rw", "x", code=2).stderr
    cli.run("chmod", "600", "nope", code=3)


def test_expire(cli: Cli) -> None:
    cli.publish("x", 1.0)
    assert cli.json("info", "x")["expires_in_ms"] is None
    assert cli.run("expire", "10m", "x").stdout == "expires x in 10 min 00 s\n"
    assert 590_000 < cli.json("info", "x")["expires_in_ms"] <= 600_000
    assert cli.json("expire", "never", "x")["done"] == [{"name": "x", "expires_in_ms": None}]
    assert cli.json("info", "x")["expires_in_ms"] is None
    assert "30s" in cli.run("expire", "soon", "x", code=2).stderr
    cli.run("expire", "0", "x", code=2)
    cli.run("expire", "50ms", "x")
    deadline = time.monotonic() + 10
    while cli.json("ls")["count"] == 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert cli.json("ls")["count"] == 0


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (300, 500)])
def test_save_gives_back_what_load_took(cli: Cli, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)
    cli.publish("x", array)
    assert cli.run("save", "x", "out.npy").stdout == "saved x in out.npy\n"
    back = np.load(cli.folder / "out.npy")
    assert back.dtype == array.dtype
    assert np.array_equal(back, array)
    assert cli.json("save", "x@1", "out.npy") == {"name": "x", "file": "out.npy"}


def test_load_and_its_options(cli: Cli) -> None:
    np.save(cli.folder / "a.npy", np.ones(3))
    assert cli.run("load", "a.npy", "x").stdout == "published x@1 from a.npy\n"
    assert cli.json("load", "a.npy", "x", "--ttl", "1h", "--mode", "644") == {"name": "x", "version": 2, "file": "a.npy"}
    assert cli.json("info", "x")["mode"] == "0644"
    assert cli.json("info", "x")["expires_in_ms"] > 3_500_000


def test_files_that_do_not_work(cli: Cli) -> None:
    cli.write("text.npy", "no array")
    assert "text.npy" in cli.run("load", "text.npy", "x", code=2).stderr
    assert "nope.npy" in cli.run("load", "nope.npy", "x", code=3).stderr
    cli.publish("x", 1.0)
    assert "/nowhere" in cli.run("save", "x", "/nowhere/x.npy", code=3).stderr


def test_wrong_names(cli: Cli) -> None:
    np.save(cli.folder / "a.npy", np.ones(3))
    for name in ("a b", "/x", "x/../y"):
        assert name in cli.run("load", "a.npy", name, code=2).stderr


def test_full_budget_names_the_holder(cli: Cli) -> None:
    cli.run("up", "--max-memory", "2M")
    cli.publish("holder", np.zeros(200_000))
    np.save(cli.folder / "b.npy", np.zeros(200_000))
    refusal = cli.run("load", "b.npy", "more", code=6).stderr
    assert "1.5 MiB by cli" in refusal
    assert "warpool rm" in refusal
    assert cli.run("load", "b.npy", "more", "--wait", "200ms", code=5).stderr != ""


def test_watch(cli: Cli, golden: Any) -> None:
    cli.publish("lab/old", 1.0)
    golden("watch-existing", cli.run("watch", "--existing", "--count", "1").stdout)
    watch = cli.popen("watch", "lab/*", "--existing", "--count", "4", "--json")
    assert watch.stdout is not None
    assert json.loads(watch.stdout.readline())["name"] == "lab/old"
    cli.publish("other", 1.0)
    cli.publish("lab/x", 1.0)
    cli.publish("lab/x", 2.0)
    cli.run("rm", "lab/x")
    lines = [json.loads(line) for line in watch.communicate(timeout=20)[0].splitlines()]
    assert watch.returncode == 0
    assert [(line["event"], line["name"], line["version"]) for line in lines] == [
        ("published", "lab/x", 1), ("published", "lab/x", 2), ("removed", "lab/x", 2),
    ]  # fmt: skip
    assert set(lines[0]) == {"event", "name", "version", "owner_uid", "unix_ns"}


def test_watch_ends_in_time_and_with_ctrl_c(cli: Cli) -> None:
    cli.run("watch", "--timeout", "100ms", code=5)
    cli.publish("x", 1.0)
    watch = cli.popen("watch", "--existing")
    assert watch.stdout is not None
    assert "x@1" in watch.stdout.readline()
    watch.send_signal(signal.SIGINT)
    watch.communicate(timeout=10)
    assert watch.returncode == 130
