"""Broken kernels. Each differs from ``Cubes``, ``Gaussian`` or ``Cut``, which keep their contract, in one thing."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd import Kernel, PairwiseKernel
from tests.checks.mutants.register import caught_by


class Cubes(Kernel):
    """The rows and their cubes, scaled by what was seen in training, with the kernel that this amounts to."""

    def __init__(self, factor=0.1):
        self.factor = factor

    def fit(self, X):
        self.scale_ = np.abs(X).max()
        return self

    def features(self, X):
        return np.hstack([X, self.factor * X**3]) / self.scale_

    def gram(self, X, Y):
        return (X @ Y.T + self.factor**2 * (X**3) @ (Y**3).T) / self.scale_**2


class Gaussian(PairwiseKernel):
    """exp(−‖x − y‖²/8) through the NPT map."""

    def gram(self, X, Y):
        return np.exp(-((X[:, None] - Y) ** 2).sum(axis=2) / 8.0)


class Cut(Cubes):
    """Leaves the cubes out of the features, and says so by the residual."""

    def features(self, X):
        return X / self.scale_

    def residual(self, X):
        return self.factor**2 * (X**6).sum(axis=1) / self.scale_**2


@caught_by("check_inputs_are_not_changed", "it changes X, which belongs to the host")
class CentresInPlace(Cubes):
    """Centres the host's rows."""

    def fit(self, X):
        X -= X.mean(axis=0)
        return super().fit(X)


@caught_by("check_same_seed_same_answer", "gives another inner products")
class Unseeded(Cubes):
    """Has random features that nobody can repeat."""

    def fit(self, X):
        self.directions_ = np.random.default_rng().normal(size=(X.shape[1], 8))
        return self

    def features(self, X):
        return np.cos(X @ self.directions_)


@caught_by("check_nothing_is_remembered", "gives another inner products")
class FitsOnce(Cubes):
    """Keeps what it learnt first."""

    def fit(self, X):
        return self if hasattr(self, "scale_") else super().fit(X)


@caught_by("check_kernel_shape", "fit returned NoneType; return self")
class NoSelf(Cubes):
    """Returns nothing from fit."""

    def fit(self, X):
        super().fit(X)


@caught_by("check_kernel_shape", "features returned shape (8, 60) for 60 rows")
class Columns(Cubes):
    """Returns features as columns."""

    def features(self, X):
        return super().features(X).T


@caught_by("check_kernel_shape", "fix F in fit")
class BatchWidth(Cubes):
    """Has as many features as there are rows."""

    def features(self, X):
        return np.tile(super().features(X)[:, :1], len(X))


@caught_by("check_kernel_is_real_and_finite", "features returned NaN or infinite values on ordinary data")
class Roots(Cubes):
    """Takes roots of negative numbers."""

    def features(self, X):
        return np.sqrt(X)


@caught_by("check_kernel_is_real_and_finite", "features returned values of type complex128")
class Complex(Cubes):
    """Returns complex numbers."""

    def features(self, X):
        return super().features(X).astype(complex)


@caught_by("check_kernel_is_identity", "declare is_identity = False")
class NotTheRows(Cubes):
    """Says that its features are the rows."""

    is_identity = True


@caught_by("check_kernel_maps_training_and_new_rows_alike", "let fit_features(X) be (fit(X).features(X), None)")
class OtherTrainingFeatures(Cubes):
    """Maps training rows in another way than new ones."""

    def fit_features(self, X):
        return 2.0 * self.fit(X).features(X), None


@caught_by("check_kernel_maps_training_and_new_rows_alike", "disagree about what the features miss")
class OtherTrainingResidual(Cubes):
    """Says that its features miss something of the training rows, and nothing of the same rows when they are new."""

    def fit_features(self, X):
        return self.fit(X).features(X), np.ones(len(X))


@caught_by("check_kernel_maps_training_and_new_rows_alike", "returned ndarray from fit_features; expected two things")
class TrainingFeaturesAlone(Cubes):
    """Says nothing of what its features miss."""

    def fit_features(self, X):
        return self.fit(X).features(X)


@caught_by("check_kernel_maps_each_row_by_itself", "the features of a row change with the rows that come with it")
class BatchCentred(Cubes):
    """Centres each batch by its own mean."""

    def features(self, X):
        Phi = super().features(X)
        return Phi - Phi.mean(axis=0)


@caught_by("check_kernel_residual", "residual falls to -")
class NegativeResidual(Cut):
    """Has the residual's sign wrong."""

    def residual(self, X):
        return -super().residual(X)


@caught_by("check_kernel_residual", "residual returned shape (60, 1) for 60 rows")
class ColumnResidual(Cut):
    """Returns the residual as a column."""

    def residual(self, X):
        return super().residual(X)[:, None]


@caught_by("check_kernel_features_and_residual", "when you override one, override the others")
class HalfOverridden(Gaussian):
    """Overrides the features and not what finds both at once."""

    def features(self, X):
        return super().features(X)[:, ::-1]


@caught_by("check_kernel_keeps_its_own_copy", "keep a copy, np.array(X)")
class KeepsTheCallersRows(Cubes):
    """Keeps the training rows without a copy."""

    def fit(self, X):
        self.rows_ = X
        return self

    def features(self, X):
        return X @ self.rows_.T

    def gram(self, X, Y):
        return X @ self.rows_.T @ self.rows_ @ Y.T


@caught_by("check_kernel_survives_a_model_file", "saved_state cannot be kept in a model file: what it has learnt is")
class LearnsAnObject(Cubes):
    """Keeps what it has learnt in an object that JSON does not know."""

    def fit(self, X):
        self.seen_ = {float(np.abs(X).max())}
        return self

    def features(self, X):
        return np.hstack([X, self.factor * X**3]) / max(self.seen_)

    def gram(self, X, Y):
        return (X @ Y.T + self.factor**2 * (X**3) @ (Y**3).T) / max(self.seen_) ** 2


@caught_by("check_kernel_survives_a_model_file", "the features differ after saved_state and restore_state")
class ForgetsTheScale(Cubes):
    """Does not save what it has learnt."""

    scale_ = 1.0

    def saved_state(self):
        return {}


@caught_by("check_kernel_ignores_the_order_of_rows", "the same training rows in another order")
class FirstRowsAreLandmarks(Cubes):
    """Takes the first rows as landmarks."""

    def fit(self, X):
        self.landmarks_ = X[:5].copy()
        return self

    def features(self, X):
        return np.tanh(X @ self.landmarks_.T)

    def gram(self, X, Y):
        return self.features(X) @ self.features(Y).T


@caught_by("check_kernel_gram", "gram(X, Y) is not the transpose of gram(Y, X)")
class OneSided(Cubes):
    """Has a kernel that is not symmetric."""

    def gram(self, X, Y):
        return super().gram(X, Y) * (1.0 + X[:, :1])


@caught_by("check_kernel_gram", "gram_diagonal(X) is not the diagonal of gram(X, X)")
class WrongDiagonal(Gaussian):
    """Forgets a factor in k(x, x)."""

    def gram(self, X, Y):
        return 3.0 * super().gram(X, Y)

    def gram_diagonal(self, X):
        return np.ones(len(X))


@caught_by("check_kernel_inner_products", "two rows are farther apart in the features than k implies")
class Doubled(Cubes):
    """Has features that are twice as long as its kernel says."""

    def features(self, X):
        return 2.0 * super().features(X)


@caught_by("check_kernel_inner_products", "beyond what residual admits")
class SilentlyCut(Cut):
    """Leaves the cubes out and does not say so."""

    def residual(self, X):
        return np.zeros(len(X))


@caught_by("check_kernel_residual_completes_the_length", "return k̂(x, x) − ‖φ(x)‖² as residual")
class WrongResidual(Cut):
    """Returns k(x, x) itself as the residual."""

    def residual(self, X):
        return np.diag(self.gram(X, X))


@caught_by("check_kernel_learns_by_moments", "two rows with the same means and variances teach it something else")
class ByTheLargest(Cubes):
    """Says that means and variances tell it all, and learns the largest entry."""

    learns_by_moments = True


@caught_by("check_kernel_on_one_column", "on data of one column it raised IndexError")
class TwoColumns(Cubes):
    """Needs a second column."""

    def fit(self, X):
        X[:, 1].max()
        return super().fit(X)


@caught_by("check_kernel_on_duplicates", "on data in which every row occurs six times the host refuses")
class NearestGap(Cubes):
    """Divides by the smallest distance between training rows."""

    def fit(self, X):
        distances = ((X[:, None] - X) ** 2).sum(axis=2)
        self.scale_ = np.sqrt(distances[np.triu_indices(len(X), 1)].min())
        return self


@caught_by("check_kernel_on_a_constant_column", "on data with a constant column the host refuses")
class Standardises(Cubes):
    """Divides by the spread of each column."""

    def features(self, X):
        return super().features(X) / self.spread_

    def fit(self, X):
        self.spread_ = np.tile(X.std(axis=0), 2)
        return super().fit(X)


@caught_by("check_kernel_on_few_rows", "on 2 rows it raised IndexError")
class TenRows(Cubes):
    """Takes the tenth row for granted."""

    def fit(self, X):
        X[9].max()
        return super().fit(X)
