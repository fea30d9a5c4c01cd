"""Broken graphs over features. Each differs from ``Links``, which keeps its contract, in one thing."""

from __future__ import annotations

import numpy as np

from pyod_gessvdd import FeatureLaplacian, Graph
from tests.checks.mutants.register import caught_by


class Links(FeatureLaplacian):
    """Links all columns by their squared correlation."""

    def __init__(self, weight=1.0):
        self.weight = weight

    def adjacency(self, X):
        away = X - X.mean(axis=0)
        lengths = np.sqrt((away**2).sum(axis=0))
        away = away / np.where(lengths > 0, lengths, 1.0)
        A = (away.T @ away) ** 2
        np.fill_diagonal(A, 0.0)
        return A

    def build(self, X, random_state):
        return self.weight * Graph.from_adjacency(self.adjacency(X))


@caught_by("check_feature_laplacian_shape", "build returned a matrix of shape (20, 20) for 4 columns")
class OfSamples(Links):
    """Is a graph over the samples."""

    def build(self, X, random_state):
        return np.eye(len(X))


@caught_by("check_feature_laplacian_shape", "build returned list")
class Lists(Links):
    """Returns lists."""

    def build(self, X, random_state):
        return super().build(X, random_state).toarray().tolist()


@caught_by("check_feature_laplacian_is_real_and_finite", "L holds NaN or infinite weights on ordinary data")
class Infinite(Links):
    """Divides by zero."""

    def build(self, X, random_state):
        L = super().build(X, random_state).toarray()
        L[0, 0] = np.inf
        return L


@caught_by("check_feature_laplacian_is_real_and_finite", "L holds values of type complex128")
class Complex(Links):
    """Returns complex numbers."""

    def build(self, X, random_state):
        return super().build(X, random_state).toarray().astype(complex)


@caught_by("check_feature_laplacian_is_symmetric", "L is not symmetric on ordinary data")
class OneWay(Links):
    """Links columns one way."""

    def build(self, X, random_state):
        return np.triu(super().build(X, random_state).toarray())


@caught_by("check_feature_laplacian_is_positive_semi_definite", "not A − D")
class WrongSign(Links):
    """Returns A − D."""

    def build(self, X, random_state):
        return -super().build(X, random_state).toarray()


@caught_by("check_feature_laplacian_ignores_the_order_of_rows", "let nothing depend on a row's number")
class FirstRows(Links):
    """Looks at the first rows alone."""

    def build(self, X, random_state):
        return super().build(X[:10], random_state)


@caught_by("check_feature_laplacian_takes_any_random_state", "pass it through sklearn.utils.check_random_state")
class NeedsASeed(Links):
    """Needs a seed that is a number."""

    def build(self, X, random_state):
        np.random.default_rng(int(random_state))
        return super().build(X, random_state)


@caught_by("check_feature_laplacian_on_one_column", "data of one column")
class NeedsTwo(Links):
    """Looks for a second column."""

    def build(self, X, random_state):
        X[:, 1]
        return super().build(X, random_state)


@caught_by("check_feature_laplacian_on_a_constant_column", "data with a constant column")
class DividesByZero(Links):
    """Divides by the spread of a column."""

    def adjacency(self, X):
        with np.errstate(divide="ignore", invalid="ignore"):
            A = np.corrcoef(X.T).reshape(X.shape[1], -1) ** 2
        np.fill_diagonal(A, 0.0)
        return A


@caught_by("check_feature_laplacian_on_equal_columns", "data with two equal columns")
class DividesByDistance(Links):
    """Divides by the distance of two columns."""

    def adjacency(self, X):
        squares = ((X[:, :, None] - X[:, None, :]) ** 2).sum(axis=0)
        np.fill_diagonal(squares, 1.0)
        with np.errstate(divide="ignore"):
            A = 1.0 / squares
        np.fill_diagonal(A, 0.0)
        return A


@caught_by("check_feature_laplacian_on_wide_data", "data with more columns than rows")
class Inverts(Links):
    """Takes from each column what the others explain, and of many columns more than there is."""

    def build(self, X, random_state):
        return (super().build(X, random_state)).toarray() * (len(X) - X.shape[1])
