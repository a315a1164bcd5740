# SPDX-License-Identifier: Apache-2.0
"""The command bench/run."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from support.context import Context, MissingPartError
from support.figures import as_json, as_table

BENCHES = ("handoff", "calls", "small", "crowd", "import")
_ROOT = Path(__file__).resolve().parents[2]


def load(name: str) -> ModuleType:
    """bench/<name>/bench.py: GOALS, and run(context) that returns a Result."""
    path = _ROOT / "bench" / name / "bench.py"
    spec = importlib.util.spec_from_file_location(f"bench_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Runs the benches and compares their figures with the goals."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHES)}; all without a name")
    parser.add_argument("--json", action="store_true", help="print one JSON object a bench and nothing else")
    parser.add_argument("--quick", action="store_true", help="only see that it works: the figures are no measurement")
    parser.add_argument("--build", type=Path, default=_ROOT / "build/release", metavar="FOLDER", help="build to measure")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"there is no bench {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    context = Context(build=options.build.resolve(), quick=options.quick)
    for name in options.names or BENCHES:
        bench = load(name)
        try:
            result = bench.run(context)
        except MissingPartError as missing:
            print(f"bench/run: {name}: {missing}", file=sys.stderr)
            return 1
        print(as_json(name, bench.GOALS, result) if options.json else as_table(name, bench.GOALS, result), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
