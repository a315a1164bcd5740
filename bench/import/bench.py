# SPDX-License-Identifier: Apache-2.0
"""What the packages add to the start of a program."""

from __future__ import annotations

import subprocess
import time
from statistics import median

from support.broker import Broker
from support.context import Context
from support.figures import Goal, Result
from support.rounds import measure_in_turn

GOALS = {
    "python_ms": Goal("<=", 40, "ms", "import warpool, beyond import numpy"),
    "octave_ms": Goal("<=", 60, "ms", "package on the path and first call, beyond a bare octave-cli"),
}


def run(context: Context) -> Result:
    with context.broker() as broker:
        return _measure(context, broker)


def _measure(context: Context, broker: Broker) -> Result:
    environment = context.environment(broker)

    def seconds_of(command: list[str]) -> float:
        start = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL)
        return time.perf_counter() - start

    # --path belongs to what the package costs; the bare one starts without it.
    octave = context.octave()
    bare_octave = octave[: octave.index("--path")]
    commands = {
        "import numpy": [*context.python(), "-c", "import numpy"],
        "import numpy, warpool": [*context.python(), "-c", "import numpy, warpool"],
        "octave-cli": [*bare_octave, "--eval", "1;"],
        "octave-cli, first call": [*octave, "--eval", "warpool.ping();"],
    }
    times = measure_in_turn(
        {name: lambda command=command: seconds_of(command) for name, command in commands.items()}, context.rounds(21)
    )
    middle = {name: 1000 * median(values) for name, values in times.items()}
    figures = {
        "python_ms": middle["import numpy, warpool"] - middle["import numpy"],
        "octave_ms": middle["octave-cli, first call"] - middle["octave-cli"],
    }
    return Result(figures, ["medians: " + ", ".join(f"{name} {value:.0f} ms" for name, value in middle.items())])
