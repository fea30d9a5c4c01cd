"""Splits, scaling and the noise of Heart's corrupted versions."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd.experiments.data.paper import DATASETS, load
from pyod_gessvdd.experiments.protocols.paper_split import bounded_noise, draw_split
from tests.experiments.paper_data import write_mnist

TARGET = "disease_absent"


@pytest.fixture
def rows(data_dir):
    return load("heart", data_dir)


def draw(rows, name="heart", **how):
    return draw_split(DATASETS[name], rows, TARGET, **{"seed": 0, **how})


def test_seventy_per_cent_of_each_class_is_for_training(rows):
    split = draw(rows)
    assert (split.train_positive.sum(), (~split.train_positive).sum()) == (42, 42)
    assert (split.test_positive.sum(), (~split.test_positive).sum()) == (18, 18)
    assert len(split.train) == 84
    assert len(split.test) == 36


def test_no_row_is_in_both_parts(rows):
    split = draw(rows, scale="none")
    assert not {tuple(row) for row in split.train} & {tuple(row) for row in split.test}
    assert {tuple(row) for row in np.vstack([split.train, split.test])} == {tuple(row) for row in rows.X}


def test_every_target_sees_the_same_split_and_another_seed_another(rows):
    other_target = draw_split(DATASETS["heart"], rows, "disease_present", 0, "none")
    split = draw(rows, scale="none")
    assert (other_target.train == split.train).all()
    assert (other_target.train_positive == ~split.train_positive).all()
    assert not (draw(rows, seed=1, scale="none").train == split.train).all()


def test_features_are_scaled_by_the_training_positives_alone(rows):
    split = draw(rows)
    positives = split.train[split.train_positive]
    np.testing.assert_allclose(positives.min(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(positives.max(axis=0), 1.0)
    assert split.train.max() > 1.5, "the other class lies elsewhere"
    standard = draw(rows, scale="standard")
    np.testing.assert_allclose(standard.train[standard.train_positive].std(axis=0), 1.0)


def test_a_feature_that_is_constant_among_the_positives_is_only_moved(rows):
    constant = type(rows)(np.column_stack([rows.X, np.full(len(rows.X), 7.0)]), rows.labels)
    assert (draw(constant).train[:, -1] == 0.0).all()


def test_the_added_noise_is_bounded_by_each_features_range():
    noise = bounded_noise((1000, 3), np.array([-1.0, 0.0, 94.0]), np.array([1.0, 0.5, 200.0]), np.random.default_rng(0))
    assert noise.min(axis=0).tolist() == [-1.0, 0.0, 94.0]
    assert noise.max(axis=0).tolist() == [1.0, 0.5, 94.0]


@pytest.mark.parametrize(
    ("name", "noisy"),
    [
        ("heart-noisy-test", (False, True)),
        ("heart-noisy-train", (True, False)),
        ("heart-noisy-both", (True, True)),
    ],
)
def test_noise_goes_where_the_name_says(rows, name, noisy):
    clean, split = draw(rows, scale="none"), draw(rows, name, scale="none")
    assert (not (split.train == clean.train).any(), not (split.test == clean.test).any()) == noisy


def test_mnist_gives_a_tenth_of_each_class_of_its_own_parts_unscaled(tmp_path):
    rows = load("mnist", write_mnist(tmp_path, per_class=40))
    split = draw_split(DATASETS["mnist"], rows, "3", 0)
    assert (len(split.train), len(split.test)) == (20, 20)
    assert (split.train_positive.sum(), split.test_positive.sum()) == (2, 2)
    assert (split.train[split.train_positive] >= 60).all()
    held = {tuple(row) for row in rows.X[rows.is_test]}
    assert {tuple(row) for row in split.test} <= held
