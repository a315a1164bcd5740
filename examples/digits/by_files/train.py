# SPDX-License-Identifier: Apache-2.0
"""train.py by files."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from classifier import Trainer
from exchange import read_array
from learning import learn, options, report
from numpy.typing import NDArray
from timeline import Timeline

WAIT_SECONDS = 60


def main() -> None:
    arguments = options()
    timeline = Timeline("train")

    def receive(name: str) -> NDArray[Any]:
        asked = time.time()
        x = read_array(name, WAIT_SECONDS)
        timeline.received(name, asked, x.nbytes)
        return x

    def receive_labels(part: str) -> NDArray[Any]:
        return receive(f"digits/labels/{part}").ravel().astype(np.uint8)

    batches = int(receive("digits/batches").item())
    labels = receive_labels("train")
    trainer = learn(
        lambda features, rows: Trainer(arguments.framework, features, rows),
        arguments.passes,
        batches,
        lambda number: receive(f"digits/batch{number:03d}").T,
        labels,
        timeline,
    )
    report(trainer, arguments.framework, receive("digits/test").T, receive_labels("test"), timeline)


if __name__ == "__main__":
    main()
