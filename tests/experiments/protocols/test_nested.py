"""Splits, scaling and the noise of Heart's corrupted versions."""

from __future__ import annotations

import numpy as np
import pytest

from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.data.paper import DATASETS, load, targets
from pyod_gessvdd.experiments.protocols.nested import Nested, bounded_noise
from tests.experiments.paper_data import write_csv, write_mnist

TARGET = "disease_absent"


def draw(data_dir, name="heart", target=TARGET, seed=0, scale="minmax"):
    """The split of a target; the fixture's sets."""
    (dataset,) = [one for one in targets(DATASETS[name], data_dir) if one.name == f"{name}:{target}"]
    (split,) = Nested(scale).splits(dataset, seed)
    return split


def test_seventy_per_cent_of_each_class_is_for_training_and_only_the_target_is_fitted(data_dir):
    split = draw(data_dir)
    assert (len(split.train), len(split.test), split.labels.sum()) == (42, 36, 18)
    assert split.duplicates == 0


def test_five_folds_of_the_training_rows_choose_and_never_see_a_test_row(data_dir):
    split = draw(data_dir, scale="none")
    assert len(split.inner) == 5
    held = np.vstack([fold.test for fold in split.inner])
    assert len(held) == len({tuple(row) for row in held}) == 84
    assert not {tuple(row) for row in held} & {tuple(row) for row in split.test}
    positives = {tuple(row) for row in split.train}
    for fold in split.inner:
        assert {tuple(row) for row in fold.train} < positives
        assert {tuple(row) in positives for row in fold.test[fold.labels == 1]} == {False}


def test_every_target_sees_the_same_rows_and_another_seed_others(data_dir):
    split, other = draw(data_dir, scale="none"), draw(data_dir, target="disease_present", scale="none")
    assert (other.test == split.test).all()
    assert (other.labels == 1 - split.labels).all()
    assert not (draw(data_dir, seed=1, scale="none").test == split.test).all()


def test_features_are_scaled_by_the_training_positives_alone(data_dir):
    split = draw(data_dir)
    np.testing.assert_allclose(split.train.min(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.train.max(axis=0), 1.0)
    assert split.test.max() > 1.3, "the other class lies elsewhere"
    np.testing.assert_allclose(draw(data_dir, scale="standard").train.std(axis=0), 1.0)


def test_a_feature_that_is_constant_among_the_positives_is_only_moved(tmp_path):
    X = np.column_stack([np.random.default_rng(0).normal(size=(40, 2)), np.full(40, 7.0)])
    write_csv(tmp_path / "paper" / "heart.csv.gz", X, ["disease_absent", "disease_present"] * 20)
    assert (draw(tmp_path).train[:, -1] == 0.0).all()


def test_an_unknown_scale_is_refused():
    with pytest.raises(ComparisonError, match="scale must be minmax, standard, none, got 'log'"):
        Nested("log")


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
def test_noise_goes_where_the_name_says(data_dir, name, noisy):
    clean, split = draw(data_dir, scale="none"), draw(data_dir, name, scale="none")
    assert (not (split.train == clean.train).any(), not (split.test == clean.test).any()) == noisy


def test_mnist_gives_a_tenth_of_each_class_of_its_own_parts_unscaled(tmp_path):
    folder = write_mnist(tmp_path, per_class=140)
    split = draw(folder, "mnist", "3")
    assert (len(split.test), (split.labels == 0).sum(), len(split.train)) == (70, 7, 7)
    assert (split.train >= 60).all()
    rows = load("mnist", folder)
    held = {tuple(row) for row in rows.X[rows.first_test_row :]}
    assert {tuple(row) for row in split.test} <= held
