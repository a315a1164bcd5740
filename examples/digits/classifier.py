# SPDX-License-Identifier: Apache-2.0
"""A small network, 600 features to 256 hidden units to 10 digits, trained by Adam on batches as they come.

One recipe, three engines: NumPy (always there), TensorFlow and PyTorch (where installed). A batch is a view of n x 600 features, one row
a digit; it is read a few hundred rows at a time and never changed or copied as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats32 = NDArray[np.float32]
HIDDEN = 256
CLASSES = 10
MINIBATCH = 128
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-4
# Targets of 0.91 and 0.01 instead of 1 and 0: handwriting is ambiguous, and a network told to be certain overfits.
LABEL_SMOOTHING = 0.1
# Feature 0.1 (the floor of the histograms) to about 0, their usual spread to about 1.
FEATURE_SHIFT = np.float32(0.17)
FEATURE_SCALE = np.float32(10.0)


def prepare(rows: NDArray[np.float64]) -> Floats32:
    """The network's input: single precision, shifted and scaled by constants (no statistic of any data)."""
    return (rows.astype(np.float32) - FEATURE_SHIFT) * FEATURE_SCALE


class Network(Protocol):
    """What an engine offers: one step on a mini-batch, and the scores of given inputs."""

    def step(self, x: Floats32, targets: Floats32, rate: float) -> None: ...

    def scores(self, x: Floats32) -> Floats32: ...


def initial_weights(features: int, seed: int) -> list[Floats32]:
    """Weights and biases of the two layers, the same for every engine."""
    rng = np.random.default_rng(seed)
    w1 = rng.standard_normal((features, HIDDEN)) * math.sqrt(2 / features)
    w2 = rng.standard_normal((HIDDEN, CLASSES)) * math.sqrt(1 / HIDDEN)
    return [w.astype(np.float32) for w in (w1, np.zeros(HIDDEN), w2, np.zeros(CLASSES))]


class NumpyNetwork:
    """The network and its gradient written out."""

    def __init__(self, features: int, seed: int) -> None:
        self.weights = initial_weights(features, seed)
        self._mean = [np.zeros_like(w) for w in self.weights]
        self._square = [np.zeros_like(w) for w in self.weights]
        self._steps = 0

    def step(self, x: Floats32, targets: Floats32, rate: float) -> None:
        w1, b1, w2, b2 = self.weights
        hidden = np.maximum(x @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        d_scores = (p - targets) / np.float32(len(x))
        d_hidden = np.where(hidden > 0, d_scores @ w2.T, 0)
        self._adam([x.T @ d_hidden, d_hidden.sum(axis=0), hidden.T @ d_scores, d_scores.sum(axis=0)], rate)

    def _adam(self, gradients: list[Floats32], rate: float) -> None:
        self._steps += 1
        bias1, bias2 = 1 - 0.9**self._steps, 1 - 0.999**self._steps
        for w, g, m, v in zip(self.weights, gradients, self._mean, self._square, strict=True):
            m += np.float32(0.1) * (g - m)
            v += np.float32(0.001) * (g * g - v)
            w -= np.float32(rate / bias1) * m / (np.sqrt(v / np.float32(bias2)) + np.float32(1e-8))
            w *= np.float32(1 - rate * WEIGHT_DECAY)

    def scores(self, x: Floats32) -> Floats32:
        w1, b1, w2, b2 = self.weights
        result: Floats32 = np.maximum(x @ w1 + b1, 0) @ w2 + b2
        return result


class TorchNetwork:
    """The same in PyTorch, on its GPU where it has one."""

    def __init__(self, features: int, seed: int) -> None:
        import torch

        self._torch = torch
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._weights = [torch.from_numpy(w).to(self._device).requires_grad_() for w in initial_weights(features, seed)]
        self._optimizer = torch.optim.AdamW(self._weights, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)

    def _forward(self, x: Floats32) -> Any:
        w1, b1, w2, b2 = self._weights
        return self._torch.relu(self._torch.from_numpy(x).to(self._device) @ w1 + b1) @ w2 + b2

    def step(self, x: Floats32, targets: Floats32, rate: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        log_p = self._torch.log_softmax(self._forward(x), dim=1)
        loss = -(self._torch.from_numpy(targets).to(self._device) * log_p).sum(dim=1).mean()
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()

    def scores(self, x: Floats32) -> Floats32:
        with self._torch.no_grad():
            result: Floats32 = self._forward(x).cpu().numpy()
        return result


class TensorFlowNetwork:
    """The same in TensorFlow, on its GPU where it has one."""

    def __init__(self, features: int, seed: int) -> None:
        import tensorflow as tf

        self._tf = tf
        self._weights = [tf.Variable(w) for w in initial_weights(features, seed)]
        self._optimizer = tf.keras.optimizers.AdamW(LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        self._optimizer.build(self._weights)
        self._compiled_step: Callable[..., None] = tf.function(self._step, reduce_retracing=True)

    def _forward(self, x: Any) -> Any:
        w1, b1, w2, b2 = self._weights
        return self._tf.matmul(self._tf.nn.relu(self._tf.matmul(x, w1) + b1), w2) + b2

    def _step(self, x: Any, targets: Any) -> None:
        with self._tf.GradientTape() as tape:
            loss = self._tf.reduce_mean(self._tf.nn.softmax_cross_entropy_with_logits(targets, self._forward(x)))
        self._optimizer.apply_gradients(zip(tape.gradient(loss, self._weights), self._weights, strict=True))

    def step(self, x: Floats32, targets: Floats32, rate: float) -> None:
        self._optimizer.learning_rate.assign(rate)
        self._compiled_step(self._tf.constant(x), self._tf.constant(targets))

    def scores(self, x: Floats32) -> Floats32:
        result: Floats32 = self._forward(self._tf.constant(x)).numpy()
        return result


ENGINES: dict[str, Callable[[int, int], Network]] = {
    "numpy": NumpyNetwork,
    "torch": TorchNetwork,
    "tensorflow": TensorFlowNetwork,
}


class Trainer:
    """Feeds a network: shuffles each batch, smooths the labels, lowers the learning rate along a half cosine to 0."""

    def __init__(self, framework: str, features: int, planned_rows: int, seed: int = 0) -> None:
        self.network = ENGINES[framework](features, seed)
        self._rng = np.random.default_rng(seed)
        self._planned_rows = planned_rows
        self._seen_rows = 0

    def learn(self, batch: NDArray[np.float64], labels: NDArray[np.integer[Any]]) -> None:
        """One pass over a batch (n x features)."""
        targets = np.full((len(labels), CLASSES), LABEL_SMOOTHING / CLASSES, np.float32)
        targets[np.arange(len(labels)), labels] += np.float32(1 - LABEL_SMOOTHING)
        for rows in self._minibatches(len(labels)):
            done = min(self._seen_rows / self._planned_rows, 1.0)
            rate = LEARNING_RATE * 0.5 * (1 + math.cos(math.pi * done))
            self.network.step(prepare(batch[rows]), targets[rows], rate)
            self._seen_rows += len(rows)

    def _minibatches(self, n: int) -> Iterator[NDArray[np.int64]]:
        order = self._rng.permutation(n)
        yield from np.array_split(order, max(1, round(n / MINIBATCH)))

    def predict(self, rows: NDArray[np.float64]) -> NDArray[np.int64]:
        """The digit that each row (n x features) shows."""
        digits: NDArray[np.int64] = self.network.scores(prepare(rows)).argmax(axis=1)
        return digits
