# SPDX-License-Identifier: Apache-2.0
"""publish.py by files."""

from __future__ import annotations

import time
from typing import Any

from digits import read_digits
from exchange import write_array
from numpy.typing import NDArray
from timeline import Timeline


def main() -> None:
    timeline = Timeline("publish")

    def publish(name: str, x: NDArray[Any]) -> None:
        since = time.time()
        write_array(name, x)
        timeline.published(name, since, x.nbytes)

    for part, digits in read_digits().items():
        publish(f"digits/pixels/{part}", digits.pixels)
        publish(f"digits/labels/{part}", digits.labels.reshape(-1, 1))
    timeline.write("end")


if __name__ == "__main__":
    main()
