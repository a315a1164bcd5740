# SPDX-License-Identifier: Apache-2.0
"""What train.py does with batches, wherever they come from: learns from them as they arrive, goes over them again, and is tested."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from classifier import ENGINES, NumpyNetwork, Trainer
from numpy.typing import NDArray
from timeline import Timeline

Features = NDArray[np.float64]
Labels = NDArray[np.integer[Any]]


def options() -> argparse.Namespace:
    """Options of the two training programs; the environment variables serve pipeline files, whose commands are fixed."""
    parser = argparse.ArgumentParser(description="Trains a classifier on the published features.")
    parser.add_argument("--framework", help=", ".join(sorted(ENGINES)), default=os.environ.get("DIGITS_FRAMEWORK") or "numpy")
    parser.add_argument("--passes", type=int, default=int(os.environ.get("DIGITS_PASSES") or 2), help="over all batches")
    arguments = parser.parse_args()
    check_framework(arguments.framework)
    return arguments


def check_framework(name: str) -> None:
    """Ends the program with advice if this Python cannot train with `name`."""
    if name not in ENGINES:
        raise SystemExit(f'there is no framework "{name}" here; choose one of {", ".join(sorted(ENGINES))}')
    if importlib.util.find_spec(name) is None:
        raise SystemExit(f"{name} is not installed for {sys.executable}; install it there, or train with --framework numpy")


def learn(
    trainer_for: Callable[[int, int], Trainer],
    passes: int,
    batches: int,
    receive: Callable[[int], Features],
    labels: Labels,
    timeline: Timeline,
) -> Trainer:
    """One pass over batches 1, 2, ... as `receive` gives them, then `passes` - 1 over all of them in random order.

    A batch (rows x features) holds all training digits, several times. It stays where it is: only mini-batches are copied.
    """
    first = receive(1)
    batch_labels = np.tile(labels, len(first) // len(labels))
    trainer = trainer_for(first.shape[1], passes * batches * len(first))
    seen = [first]
    trainer.learn(first, batch_labels)
    for number in range(2, batches + 1):
        seen.append(receive(number))
        trainer.learn(seen[-1], batch_labels)
    timeline.write("pass", number=1)
    order = np.random.default_rng(0)
    for number in range(2, passes + 1):
        for at in order.permutation(batches):
            trainer.learn(seen[at], batch_labels)
        timeline.write("pass", number=number)
    return trainer


def report(trainer: Trainer, framework: str, test: Features, labels: Labels, timeline: Timeline) -> None:
    """Tests, prints the accuracy, and leaves result.json (and the weights, where NumPy trained them) in $DIGITS_OUT."""
    errors = int((trainer.predict(test) != labels).sum())
    accuracy = 1 - errors / len(labels)
    timeline.write("end")
    print(f"accuracy {accuracy:.2%} on the last {len(labels)} digits: {errors} wrong ({framework})")
    folder = Path(os.environ.get("DIGITS_OUT", "."))
    facts = {"accuracy": accuracy, "errors": errors, "test_rows": len(labels), "framework": framework}
    (folder / "result.json").write_text(json.dumps(facts) + "\n")
    if isinstance(trainer.network, NumpyNetwork):
        np.savez(folder / "model.npz", *trainer.network.weights)
