# SPDX-License-Identifier: Apache-2.0
"""Shows what the runs below a folder did: a table here, a picture (digits.png) and a page (digits.html) in the folder.

python3 report.py out/digits out
"""

from __future__ import annotations

import argparse
from pathlib import Path

from report_html import write_page
from report_png import draw
from runs import Run, read_runs


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows what the runs of the digits example did.")
    parser.add_argument("runs", type=Path, help="folder with one folder per run")
    parser.add_argument("out", type=Path, help="folder for digits.png and digits.html")
    arguments = parser.parse_args()
    runs = read_runs(arguments.runs)
    if not runs:
        parser.error(f"there is no finished run below {arguments.runs}; start examples/digits/run first")
    print(table(runs))
    print(f"\n{avoided(runs)}")
    draw(runs, arguments.out / "digits.png")
    write_page(runs, arguments.out / "digits.html")


def table(runs: list[Run]) -> str:
    """The runs side by side."""
    heads = ("", "whole run", "hand over a batch", "copies", "copied", "in files", "accuracy")
    rows = [
        (
            run.title,
            f"{run.seconds:.1f} s",
            f"{run.batch_ms:.2f} ms",
            str(run.copies.count),
            f"{run.copies.nbytes / 1e6:.3g} MB",
            f"{run.file_bytes / 1e6:.3g} MB",
            f"{run.result['accuracy']:.2%}",
        )
        for run in runs
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = []
    for row in (heads, *rows):
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  " + "   ".join(cells).rstrip())
    return "\n".join(lines)


def avoided(runs: list[Run]) -> str:
    """What sharing saved against the file run with the fewest copied bytes."""
    shared = runs[0]
    text = f"  A batch is {shared.batch_bytes / 1e6:.1f} MB; {shared.shared_bytes / 1e6:.1f} MB were read without a copy"
    files = [run for run in runs if run.method != "shared"]
    if shared.method != "shared" or not files:
        return text + "."
    least = min(files, key=lambda run: run.copies.nbytes)
    nbytes = least.copies.nbytes - shared.copies.nbytes
    return f"{text}, {least.copies.count - shared.copies.count} copies of {nbytes / 1e6:.1f} MB avoided."


if __name__ == "__main__":
    main()
