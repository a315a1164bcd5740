# SPDX-License-Identifier: Apache-2.0
"""Trains a classifier on the features that features.m publishes, while they arrive, and tests it on digits that it never saw."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import warpool
from classifier import Trainer
from learning import learn, options, report
from numpy.typing import NDArray
from timeline import Timeline

WAIT_SECONDS = 60


def main() -> None:
    arguments = options()
    timeline = Timeline("train")

    def receive(name: str) -> NDArray[Any]:
        asked = time.time()
        array = warpool.get(name, wait=WAIT_SECONDS)
        timeline.received(name, asked, array.nbytes)
        return np.asarray(array)  # a read-only view of the shared memory: nothing is copied

    batches = int(receive("digits/batches").item())
    labels = receive("digits/labels/train")
    trainer = learn(
        lambda features, rows: Trainer(arguments.framework, features, rows),
        arguments.passes,
        batches,
        # Octave's 600 x n, column-major, is n x 600, row-major, to NumPy: the same bytes, one row a digit.
        lambda number: receive(f"digits/batch{number:03d}").T,
        labels,
        timeline,
    )
    report(trainer, arguments.framework, receive("digits/test").T, receive("digits/labels/test"), timeline)


if __name__ == "__main__":
    main()
