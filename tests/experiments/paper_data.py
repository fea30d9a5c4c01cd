"""A small data folder laid out as the paper's, so that the protocol can run without the real data."""

from __future__ import annotations

import csv
import gzip

import numpy as np


def write_csv(path, X, labels):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"f{i}" for i in range(X.shape[1])), "label"])
        writer.writerows([*row, label] for row, label in zip(X.tolist(), labels, strict=True))


def write_heart(folder, n=60, seed=0):
    """Two classes of n rows, one around 0 and one around 2, in three features of very different units."""
    random = np.random.default_rng(seed)
    X = np.vstack([random.normal(size=(n, 3)), random.normal(2.0, 1.0, size=(n, 3))]) * [1.0, 10.0, 100.0] + 50.0
    write_csv(folder / "paper" / "heart.csv.gz", X, ["disease_absent"] * n + ["disease_present"] * n)
    return folder


def write_mnist(folder, per_class=20):
    """Ten classes of 2 × 2 pictures; a third of the rows is the test part."""
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), per_class).astype(np.uint8)
    pictures = (random.integers(0, 20, size=(len(labels), 2, 2)) + 20 * labels[:, None, None]).astype(np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    half = np.arange(len(labels)) % 2 == 0
    np.savez(
        folder / "mnist.npz",
        x_train=pictures[half],
        y_train=labels[half],
        x_test=pictures[~half],
        y_test=labels[~half],
    )
    return folder
