# SPDX-License-Identifier: Apache-2.0
"""Publishes the handwritten digits: pixels for the program that computes features, labels for the one that learns."""

from __future__ import annotations

import time

import warpool
from digits import read_digits
from timeline import Timeline


def main() -> None:
    timeline = Timeline("publish")
    for part, digits in read_digits().items():
        # The array is born in shared memory and filled there. Column-major, so that Octave can use it as it is.
        name, since = f"digits/pixels/{part}", time.time()
        with warpool.create(name, digits.pixels.shape, dtype="float64", order="F") as pixels:
            pixels[...] = digits.pixels
        timeline.published(name, since, digits.pixels.nbytes)

        name, since = f"digits/labels/{part}", time.time()
        warpool.put(name, digits.labels)
        timeline.published(name, since, digits.labels.nbytes)
        print(f"{digits.labels.size} digits to {part} with")
    timeline.write("end")


if __name__ == "__main__":
    main()
