# SPDX-License-Identifier: Apache-2.0
"""Shows what the runs below a folder did: a table here, a picture (digits.png) and a page (digits.html) in the folder.

python3 report.py out/digits out
"""

from __future__ import annotations

import argparse
from pathlib import Path

from report_html import write_page
from report_png import draw
from runs import Run, read_runs, sharing_text, size_text


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows what the runs of the digits example did.")
    parser.add_argument("runs", type=Path, help="folder with one folder per run")
    parser.add_argument("out", type=Path, help="folder for digits.png and digits.html")
    arguments = parser.parse_args()
    runs = read_runs(arguments.runs)
    if not runs:
        parser.error(f"there is no finished run below {arguments.runs}; start examples/digits/run first")
    print(table(runs))
    print(f"\n  A batch is {size_text(runs[0].batch_bytes)}. {sharing_text(runs)}")
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
            size_text(run.copies.nbytes),
            size_text(run.file_bytes),
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


if __name__ == "__main__":
    main()
