# SPDX-License-Identifier: Apache-2.0
"""Reads the handwritten digits and splits them into training and test rows. The one place where the split is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
TRAINING_SHARE = 0.7


class Digits(NamedTuple):
    """Digits as they are shared: one column a digit, as MATLAB and Octave like it."""

    pixels: NDArray[np.float64]  # 64 x n, from 0 to 1, x runs fastest
    labels: NDArray[np.uint8]  # n


def read_digits(path: Path | None = None) -> dict[str, Digits]:
    """Parts "train", the first 70 % of the file, and "test", the rest.

    `path` is a CSV file, plain or gzip, of 64 pixels from 0 to 16 and the label a row. None takes the environment variable DIGITS_DATA,
    else the file beside this program.
    """
    table = np.loadtxt(path or os.environ.get("DIGITS_DATA") or HERE / "digits.csv.gz", delimiter=",")
    first_test_row = int(TRAINING_SHARE * len(table))
    rows = {"train": table[:first_test_row], "test": table[first_test_row:]}
    return {part: Digits((r[:, :64] / 16).T, r[:, 64].astype(np.uint8)) for part, r in rows.items()}
