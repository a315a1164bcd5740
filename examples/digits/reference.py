# SPDX-License-Identifier: Apache-2.0
"""The features of features.m in plain NumPy, written as formulas: matrices where the Octave code uses slices.

The pipeline never runs this. It is what the tests hold the Octave features against, to 1e-10.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Augmentation(NamedTuple):
    """Small changes of digits, one each: radians, pixels, pixels, factor."""

    angle: Floats
    dx: Floats
    dy: Floats
    scale: Floats


class Basis(NamedTuple):
    """Mean image (196) and scaled principal axes (196 x 12) of the training digits."""

    mean: Floats
    axes: Floats


def augmentation(k: int | NDArray[np.integer]) -> Augmentation:
    """The k-th change of each digit; 0 changes nothing."""
    golden = 1.1673039782614187
    steps = np.divide.accumulate([1.0] + [golden] * 4)[1:]
    u = 0.5 + np.multiply.outer(steps, np.asarray(k, dtype=np.float64))
    s = 2 * (u - np.floor(u)) - 1
    return Augmentation(s[0] * (15 * np.pi / 180), s[1], s[2], 1 + 0.1 * s[3])


def warp_digits(px: Floats, aug: Augmentation) -> Floats:
    """64 x n digits to 196 x n images: deskewed, centred, changed, smoothed."""
    n = px.shape[1]
    y, x = np.divmod(np.arange(64.0)[:, None], 8)
    p = px / np.maximum(px.sum(axis=0), 1e-12)
    cx, cy = (p * x).sum(axis=0), (p * y).sum(axis=0)
    cxy = (p * x * y).sum(axis=0) - cx * cy
    cyy = (p * y * y).sum(axis=0) - cy * cy
    shear = cxy / (cyy + 1e-3)

    u = (np.arange(14) + 0.5) / 14 * 9 - 4.5
    uy, ux = (g.reshape(-1, 1) for g in np.meshgrid(u, u, indexing="ij"))
    rx = (np.cos(aug.angle) * ux - np.sin(aug.angle) * uy) / aug.scale
    ry = (np.sin(aug.angle) * ux + np.cos(aug.angle) * uy) / aug.scale
    at_x = rx + ry * shear + (cx + aug.dx)
    at_y = ry + (cy + aug.dy)

    # Bilinear interpolation as its definition says: every pixel counts by max(0, 1 - distance) along x and along y.
    pixels = np.arange(8.0)[:, None, None]
    wx = np.maximum(0, 1 - np.abs(at_x - pixels))  # 8 x 196 x n
    wy = np.maximum(0, 1 - np.abs(at_y - pixels))
    image = np.einsum("yxn,xpn,ypn->pn", px.reshape(8, 8, n), wx, wy, optimize=True)

    blur = (np.eye(14) * 22 + np.eye(14, k=1) + np.eye(14, k=-1)) / 24
    smoothed: Floats = np.kron(blur, blur) @ image
    return smoothed


def gradient_histograms(im: Floats) -> Floats:
    """196 x n images to 588 x n normalised votes: 12 directions of 7 x 7 cells."""
    difference = np.eye(14, k=1) - np.eye(14, k=-1)
    difference[[0, -1]] = 0.0
    gx = np.kron(np.eye(14), difference) @ im
    gy = np.kron(difference, np.eye(14)) @ im

    distance = np.abs(np.arange(14)[None, :] - (2 * np.arange(7)[:, None] + 0.5))
    triangle = np.maximum(0, 1 - distance / 2)
    pool = np.kron(triangle, triangle)

    angles = 2 * np.pi * np.arange(12) / 12
    along = np.cos(angles)[:, None, None] * gx + np.sin(angles)[:, None, None] * gy
    votes = np.maximum(along, 0) ** 5 / (gx**2 + gy**2 + 1e-9) ** 2
    h = (pool @ votes).reshape(588, -1)
    h = h / np.sqrt((h**2).sum(axis=0) + 1e-12)
    lifted: Floats = np.sqrt(h + 0.01)
    return lifted


def fit_basis(px: Floats) -> Basis:
    """The 12 principal components of the deskewed images of `px` (training digits only)."""
    im = warp_digits(px, augmentation(0))
    mean = im.mean(axis=1)
    im = im - mean[:, None]
    variances, axes = np.linalg.eigh(im @ im.T / im.shape[1])
    axes = axes[:, ::-1][:, :12]
    largest = axes[np.abs(axes).argmax(axis=0), np.arange(12)]
    return Basis(mean, axes * np.sign(largest) * (0.1 / np.sqrt(variances[-1])))


def digit_features(px: Floats, aug: Augmentation, basis: Basis) -> Floats:
    """64 x n digits to 600 x n features."""
    im = warp_digits(px, aug)
    return np.concatenate([gradient_histograms(im), basis.axes.T @ (im - basis.mean[:, None])])
