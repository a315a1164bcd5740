# SPDX-License-Identifier: Apache-2.0
"""Arrays handed over by files, the way it is done without Warpool. write_array.m and read_array.m do the same in Octave.

$DIGITS_FORMAT is "mat7" (what MATLAB saves unless told otherwise: compressed), "mat6" (not compressed) or "raw" (the bytes, and the shape
in a text file beside them). A file is written under another name and renamed, so that nobody reads half of it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from numpy.typing import NDArray

FORMAT = os.environ.get("DIGITS_FORMAT", "mat7")
FOLDER = Path(os.environ.get("DIGITS_OUT", ".")) / "files"
POLL_SECONDS = 0.001
SUFFIX = {"mat7": ".mat", "mat6": ".mat", "raw": ".bin"}[FORMAT]


def write_array(name: str, x: NDArray[Any]) -> None:
    """Writes a matrix of float64 to the file of this name."""
    path = (FOLDER / name).with_suffix(SUFFIX)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    x = np.asarray(x, dtype=np.float64)
    if FORMAT == "raw":
        x.T.tofile(partial)  # column by column
        path.with_suffix(".shape").write_text("{} {}\n".format(*x.shape))
    else:
        with partial.open("wb") as file:
            scipy.io.savemat(file, {"x": x}, do_compression=FORMAT == "mat7")
    partial.rename(path)


def read_array(name: str, wait: float) -> NDArray[Any]:
    """Waits for the file of this name and reads it."""
    path = (FOLDER / name).with_suffix(SUFFIX)
    deadline = time.monotonic() + wait
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} did not appear within {wait:g} s; has the program that writes it failed?")
        time.sleep(POLL_SECONDS)
    if FORMAT == "raw":
        rows, columns = map(int, path.with_suffix(".shape").read_text().split())
        return np.fromfile(path).reshape(columns, rows).T
    x: NDArray[Any] = scipy.io.loadmat(path, variable_names=["x"])["x"]
    return x
