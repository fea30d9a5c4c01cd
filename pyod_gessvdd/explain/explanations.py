"""Explanations of scores, as a mixin for detectors: which feature makes how much of a row's score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.explain.attribution import N_NODES, along_path, by_differences, made_exact
from pyod_gessvdd.linalg import map_blocks, row_blocks
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.residual import left_out_factor

Array = np.ndarray

#: The most training rows that a path may start from.
MAX_REFERENCES = 500
#: The step of a central difference, as a share of the data's scale.
DIFFERENCE_STEP = 1e-4


class Explained(BaseEstimator):
    """``explain`` for a fitted detector.

    Two things are kept at fit: with a kernel up to 500 normal training rows, and the training rows themselves by
    reference, without a copy. The latter serve the pictures only and are not saved with the model.
    """

    kernel_: Any
    scaling_: Any
    description_: Any
    alpha_: Array
    support_: Array
    decision_scores_: Array
    leverage_: Array | None
    labels_: Array
    _takes_rows: bool
    _scores: Callable[[Array], Array]

    def explain(self, X: Any, return_base: bool = False) -> Any:
        """How much each feature contributes to each row's score.

        With the linear kernel the contributions add up to the score. Within the subspace they are the Shapley values
        of the features, with the training mean weighted by α (the sphere's centre) as the reference; the residual's
        part, if it counts, is shared out in proportion to what each feature adds to r².

        With any other kernel they are integrated gradients along the straight path from a normal training row, the
        nearest other one by the Manhattan distance of the scaled features, and add up to the difference of the two
        scores. A feature in which the row and this reference agree contributes nothing.

        Parameters
        ----------
        X : array of shape (n, D)
            The rows.
        return_base : bool, default=False
            Whether to return the score that the contributions start from too.

        Returns
        -------
        contributions : ndarray of shape (n, D)
            Positive where a feature makes the row more abnormal.
        base : ndarray of shape (n,)
            Zero with the linear kernel, else the reference's score: ``contributions.sum(axis=1) + base`` is
            ``decision_function(X)``. Only with ``return_base``.

        Examples
        --------
        >>> import numpy as np
        >>> from pyod_gessvdd import GESSVDD
        >>> detector = GESSVDD(random_state=0).fit(np.random.default_rng(0).normal(size=(200, 3)))
        >>> detector.explain([[0.2, 9.0, -0.1]]).argmax()
        1
        """
        check_is_fitted(self, "decision_scores_")
        contributions, base = self._contributions(validated(self, X, reset=False))
        return (contributions, base) if return_base else contributions

    # What is kept from fit ------------------------------------------------------------------------------------------

    def _keep_for_explanations(self, X: Array) -> None:
        """Note where explanations start from; called at the end of fit."""
        self._training_rows = X
        if self.kernel_.is_identity:
            self._center_features = self._weighted_mean(X)
        elif self.kernel_.input_is_rows:
            normal = self._evenly_by_score(MAX_REFERENCES, only_normal=True)
            self._references = self.scaling_.apply(X[normal])
            self._reference_scores = self._scores_of_training_rows()[normal]

    def _scores_of_training_rows(self) -> Array:
        """What ``decision_function`` gives for them: ``decision_scores_`` may be of rows as if left out."""
        if self.leverage_ is None:
            return self.decision_scores_
        return self.decision_scores_ / left_out_factor(self.leverage_)

    def _weighted_mean(self, X: Array) -> Array:
        """Σ α_i φ_i, whose image is the sphere's centre, for rows that are their own features."""
        mean = np.zeros(X.shape[1])
        for block in row_blocks(len(self.support_), X.shape[1]):
            support = self.support_[block]
            mean += self.alpha_[support] @ self._own_features(X[support])
        return mean

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_training_rows"}

    def _evenly_by_score(self, count: int, *, only_normal: bool = False) -> Array:
        """Up to ``count`` training rows, evenly spaced in the order of their scores, in their own order."""
        order = np.argsort(self.decision_scores_, kind="stable")
        if only_normal and not self.labels_.all():
            order = order[self.labels_[order] == 0]
        return np.sort(order[np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int)])

    # Contributions --------------------------------------------------------------------------------------------------

    def _contributions(self, X: Array) -> tuple[Array, Array]:
        """Contributions and base of valid rows."""
        if not self.kernel_.input_is_rows:
            raise ValueError(
                f"kernel {self.kernel_.name!r} takes kernel values, not features, so there is nothing to attribute a "
                "score to; fit on the rows with a kernel function to explain them"
            )
        return self._linear_parts(X) if self.kernel_.is_identity else self._path_parts(X)

    def _own_features(self, X: Array) -> Array:
        """The features of rows that are their own features, in the form that the description takes."""
        return X if self._takes_rows else self.scaling_.apply(X)

    def _linear_parts(self, X: Array) -> tuple[Array, Array]:
        description, center = self.description_, self._center_features

        def of_block(block: Array) -> Array:
            return description.contributions(self._own_features(block), center)

        base = np.full(len(X), description.base(center))
        parts = map_blocks(of_block, X, row_cost=X.shape[1])
        # Only rounding is left to share out.
        return made_exact(parts, self._scores(X) - base, np.ones_like(parts)), base

    def _path_parts(self, X: Array) -> tuple[Array, Array]:
        references = self._references
        unit = float(np.abs(references - references.mean(axis=0)).mean()) or 1.0

        def of_block(block: Array) -> Array:
            rows = self.scaling_.apply(block)
            distances = manhattan_distances(rows, references)
            # A reference is not its own, or every training row would be explained by nothing.
            nearest = np.where(distances > 0, distances, np.inf).argmin(axis=1)
            start = references[nearest]
            low, high = np.minimum(start, rows), np.maximum(start, rows)

            def gradient(on_path: Array) -> Array:
                return self._score_gradient(on_path, low, high, unit * DIFFERENCE_STEP)

            return np.column_stack([along_path(gradient, start, rows, unit), np.abs(rows - start), nearest])

        n_features = X.shape[1]
        # Small blocks: a single row costs as much as a whole one, at every node.
        row_cost = N_NODES * max(n_features, len(getattr(self.kernel_, "landmarks_", ())), len(references))
        parts, distances, nearest = np.split(map_blocks(of_block, X, row_cost), [n_features, 2 * n_features], axis=1)
        base = self._reference_scores[nearest[:, 0].astype(int)]
        return made_exact(parts, self._scores(X) - base, distances), base

    def _score_gradient(self, scaled: Array, low: Array, high: Array, width: float) -> Array:
        """The gradient of the scores of scaled rows."""
        kernel, description = self.kernel_, self.description_
        if getattr(kernel, "differentiable", False):
            Phi, missed, pullback = kernel.features_residual_and_pullback(scaled)
            return pullback(*description.gradient(Phi, missed))

        def score(rows: Array) -> Array:
            return description.scores(*kernel.features_and_residual(rows))

        return by_differences(score, scaled, low, high, width)
