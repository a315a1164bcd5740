# SPDX-License-Identifier: Apache-2.0
"""Numerics of the example: Octave against NumPy, the network against finite differences, and that test digits stay unseen."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from classifier import CLASSES, ENGINES, MINIBATCH, NumpyNetwork, Trainer
from digits import HERE, read_digits
from numpy.typing import NDArray
from reference import augmentation, digit_features, fit_basis

TOLERANCE = 1e-10
PASSES = 20
ROWS, FIRST_TEST_ROW = 600, 420  # of the test that trains three times
OCTAVE = ["octave-cli", "-qf", "--no-history"]


def test_data_file_is_the_published_one_and_split_in_its_order() -> None:
    data = (HERE / "digits.csv.gz").read_bytes()
    assert hashlib.sha256(data).hexdigest() == "46abec6b12486ad9e51943373abcf22bbea1b5a51a1619b361570d8893f1464a"
    parts = read_digits()
    assert parts["train"].pixels.shape == (64, 1257)
    assert parts["test"].pixels.shape == (64, 540)
    last = gzip.decompress(data).decode().splitlines()[-1].split(",")
    assert (parts["test"].pixels[:, -1] * 16).tolist() == [float(v) for v in last[:64]]
    assert parts["test"].labels[-1] == int(last[64])
    assert np.array_equal(np.unique(parts["train"].labels), np.arange(10))


def octave(script: str, folder: Path) -> None:
    """Runs Octave code in which `folder` is known, with the functions of the example."""
    file = folder / "script.m"
    file.write_text(f"folder = '{folder}';\n{script}\n")
    subprocess.run([*OCTAVE, file], check=True, timeout=60, env=os.environ | {"OCTAVE_PATH": str(HERE)})


WRITE_FEATURES = """
file = fopen([folder '/pixels'], 'r'); px = fread(file, [64, Inf], 'double'); fclose(file);
file = fopen([folder '/changes'], 'r'); changes = fread(file, [1, Inf], 'double'); fclose(file);
f = digit_features(px, augmentation(changes), fit_basis(px));
file = fopen([folder '/features'], 'w'); fwrite(file, f, 'double'); fclose(file);
"""


def features_from_octave(pixels: NDArray[np.float64], changes: NDArray[np.int64], folder: Path) -> NDArray[np.float64]:
    pixels.T.tofile(folder / "pixels")
    changes.astype(np.float64).tofile(folder / "changes")
    octave(WRITE_FEATURES, folder)
    return np.fromfile(folder / "features").reshape(-1, 600).T


@pytest.mark.parametrize("case", ["unchanged", "changed", "far changes", "with empty and full images"])
def test_octave_features_equal_the_reference(case: str, tmp_path: Path) -> None:
    pixels = read_digits()["train"].pixels[:, :300].copy()
    changes = np.zeros(300, np.int64)
    if case == "changed":
        changes = np.arange(1, 301)
    elif case == "far changes":
        changes = np.arange(300) * 199 + 1
    elif case == "with empty and full images":
        pixels[:, 10], pixels[:, 20] = 0.0, 1.0
        changes = np.arange(1, 301)
    got = features_from_octave(pixels, changes, tmp_path)
    want = digit_features(pixels, augmentation(changes), fit_basis(pixels))
    assert want.shape == (600, 300)
    assert np.isfinite(want).all()
    assert np.abs(got - want).max() <= TOLERANCE
    assert (want.std(axis=1) > 1e-3).sum() > 500  # constants would compare well, too (those of cells in corners are)


def test_changes_are_small_even_and_all_different() -> None:
    nothing = augmentation(0)
    assert (float(nothing.angle), float(nothing.dx), float(nothing.dy), float(nothing.scale)) == (0.0, 0.0, 0.0, 1.0)
    many = np.stack(augmentation(np.arange(1, 47 * 1257)))
    assert np.abs(many[0]).max() <= np.deg2rad(15)
    assert np.abs(many[1:3]).max() <= 1
    assert np.abs(many[3] - 1).max() <= 0.1 + 1e-12
    assert np.unique(many.round(9), axis=1).shape == many.shape
    # The copies of one digit are spread as evenly as random ones are, or better: their mean change is near none.
    of_one_digit = many[:, 100::1257] - np.array([[0], [0], [0], [1]])
    assert (np.abs(of_one_digit.mean(axis=1)) < np.array([0.26, 1, 1, 0.1]) * 0.3).all()


def test_change_numbers_of_octave_are_used_once(tmp_path: Path) -> None:
    octave(
        "k = []; for c = 1:5, for first = 1:128:1257, k = [k, change_numbers(first:min(first + 127, 1257), c, 1257)]; end, end\n"
        "file = fopen([folder '/numbers'], 'w'); fwrite(file, k, 'double'); fclose(file);",
        tmp_path,
    )
    assert np.fromfile(tmp_path / "numbers").tolist() == [0.0] * 1257 + list(np.arange(1.0, 4 * 1257 + 1))


def test_network_gradient_equals_finite_differences() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((5, 7)).astype(np.float32)
    targets = np.full((5, CLASSES), 0.01, np.float32)
    targets[np.arange(5), rng.integers(0, CLASSES, 5)] += np.float32(0.9)

    def loss(weights: list[NDArray[np.float64]]) -> float:
        w1, b1, w2, b2 = weights
        scores = np.maximum(x @ w1 + b1, 0) @ w2 + b2
        return float(-(targets * (scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))).sum(axis=1).mean())

    caught: list[NDArray[np.float32]] = []
    network = NumpyNetwork(7, seed=1)
    network._adam = lambda gradients, rate: caught.extend(gradients)  # type: ignore[method-assign]
    network.step(x, targets, 0.001)
    weights = [w.astype(np.float64) for w in network.weights]
    for w, gradient in zip(weights, caught, strict=True):
        for at in (0, w.size // 2, w.size - 1):
            h = 1e-6
            w.flat[at] += h
            above = loss(weights)
            w.flat[at] -= 2 * h
            below = loss(weights)
            w.flat[at] += h
            assert gradient.flat[at] == pytest.approx((above - below) / (2 * h), abs=2e-5)


@pytest.mark.parametrize("framework", sorted(ENGINES))
def test_each_framework_learns_the_same(framework: str) -> None:
    if framework != "numpy":
        pytest.importorskip(framework)
    digits = read_digits()["train"]
    batch, labels = digits.pixels.T[:600] * 0.3 + 0.1, digits.labels[:600]
    found = []
    for name in ("numpy", framework):
        trainer = Trainer(name, 64, planned_rows=PASSES * len(batch))
        for _ in range(PASSES):
            trainer.learn(batch, labels)
        found.append(trainer.predict(batch))
    assert (found[0] == labels).mean() > 0.9
    assert (found[0] == found[1]).mean() > 0.995


def test_a_batch_is_used_once_a_pass_and_left_as_it_is() -> None:
    seen: list[NDArray[np.float32]] = []
    trainer = Trainer("numpy", 3, planned_rows=1000)
    trainer.network.step = lambda x, targets, rate: seen.append(x)  # type: ignore[method-assign]
    batch = np.arange(1000 * 3, dtype=np.float64).reshape(1000, 3)
    batch.flags.writeable = False
    trainer.learn(batch, np.zeros(1000, np.int64))
    assert max(len(x) for x in seen) <= MINIBATCH + MINIBATCH // 2
    rows = np.concatenate(seen)
    assert len(rows) == 1000
    assert np.unique(rows[:, 0]).size == 1000


def run_by_files(folder: Path, change: Callable[[NDArray[np.float64]], None]) -> list[NDArray[np.float32]]:
    """The weights that the real programs learn, handing over by raw files, from some digits to which `change` was done."""
    table = np.loadtxt(HERE / "digits.csv.gz", delimiter=",", max_rows=ROWS)
    change(table)
    folder.mkdir()
    data = folder / "data.csv"
    np.savetxt(data, table, fmt="%d", delimiter=",")
    env = os.environ | {
        "DIGITS_DATA": str(data),
        "DIGITS_OUT": str(folder),
        "DIGITS_FORMAT": "raw",
        "DIGITS_BATCHES": "1",
        "DIGITS_PASSES": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(HERE),
        "OCTAVE_PATH": str(HERE),
    }
    by_files = HERE / "by_files"
    for command in ([sys.executable, "publish.py"], [*OCTAVE, "features.m"], [sys.executable, "train.py"]):
        subprocess.run(command, check=True, timeout=60, cwd=by_files, env=env, stdout=subprocess.DEVNULL)
    with np.load(folder / "model.npz") as weights:
        return [weights[name] for name in weights.files]


def test_what_is_learned_does_not_depend_on_the_test_digits(tmp_path: Path) -> None:
    def nothing(table: NDArray[np.float64]) -> None:
        pass

    def other_test_digits(table: NDArray[np.float64]) -> None:
        rng = np.random.default_rng(5)
        table[FIRST_TEST_ROW:, :64] = rng.integers(0, 17, (ROWS - FIRST_TEST_ROW, 64))
        table[FIRST_TEST_ROW:, 64] = rng.permutation(table[FIRST_TEST_ROW:, 64])

    def one_other_training_pixel(table: NDArray[np.float64]) -> None:
        table[FIRST_TEST_ROW - 1, 27] = (table[FIRST_TEST_ROW - 1, 27] + 5) % 17

    plain = run_by_files(tmp_path / "plain", nothing)
    other = run_by_files(tmp_path / "other", other_test_digits)
    changed = run_by_files(tmp_path / "changed", one_other_training_pixel)
    assert all(np.array_equal(a, b) for a, b in zip(plain, other, strict=True))
    assert not np.array_equal(plain[0], changed[0])  # the check above would see a difference
