"""Which feature makes how much of a row's score: what is needed of a fit, kept small, and the contributions from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import manhattan_distances

from pyod_gessvdd.description import Description
from pyod_gessvdd.explain.attribution import N_NODES, along_path, by_differences, made_exact
from pyod_gessvdd.linalg import map_blocks, row_blocks

Array = np.ndarray

#: The most training rows that a path may start from.
MAX_REFERENCES = 500
#: The step of a central difference, as a share of the data's scale.
DIFFERENCE_STEP = 1e-4


def evenly_by_score(scores: Array, count: int) -> Array:
    """The places of up to ``count`` rows, evenly spaced in the order of their scores, in their own order."""
    order = np.argsort(scores, kind="stable")
    return np.sort(order[np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(int)])


@dataclass(frozen=True, eq=False)
class Origins:
    """Where explanations start from: what is kept of the training rows.

    Attributes
    ----------
    center : ndarray of shape (F,) or None
        With the linear kernel the training features' mean weighted by α, the preimage of the sphere's centre.
    references : ndarray of shape (m, D) or None
        With any other kernel up to 500 normal training rows, scaled: where paths may start.
    scores : ndarray of shape (m,) or None
        Their scores.
    """

    center: Array | None = None
    references: Array | None = None
    scores: Array | None = None

    @classmethod
    def learn(cls, description: Description, X: Array, scores: Array, labels: Array, alpha: Array) -> Origins:
        """Those of a fit to the rows of X with these scores, labels and α."""
        feature_map = description.feature_map
        if feature_map.kernel.is_identity:
            support, center = np.flatnonzero(alpha), np.zeros(feature_map.n_features)
            for rows in row_blocks(len(support), len(center)):
                center += alpha[support[rows]] @ feature_map.features(X[support[rows]])[0]
            return cls(center=center)
        if not feature_map.kernel.input_is_rows:
            return cls()
        normal = np.flatnonzero(labels == 0) if not labels.all() else np.arange(len(labels))
        chosen = normal[evenly_by_score(scores[normal], MAX_REFERENCES)]
        return cls(references=feature_map.scaling.apply(X[chosen]), scores=scores[chosen])


@dataclass(frozen=True, eq=False)
class Explainer:
    """Contributions to the scores of a description, from these origins."""

    description: Description
    origins: Origins

    def contributions(self, X: Array) -> tuple[Array, Array]:
        """What each feature contributes to each row's score, of shape (n, D), and what they start from, (n,)."""
        kernel = self.description.feature_map.kernel
        center, references, scores = self.origins.center, self.origins.references, self.origins.scores
        if center is not None:
            return self._linear_parts(X, center)
        if references is not None and scores is not None:
            return self._path_parts(X, references, scores)
        raise ValueError(
            f"kernel {kernel.name!r} takes kernel values, not features, so there is nothing to attribute a "
            "score to; fit on the rows with a kernel function to explain them"
        )

    def _linear_parts(self, X: Array, center: Array) -> tuple[Array, Array]:
        description = self.description
        base = np.full(len(X), description.base(center))
        parts = description.feature_map.apply(lambda Phi, missed: description.contributions(Phi, center), X)
        # Only rounding is left to share out.
        return made_exact(parts, description.scores(X) - base, np.ones_like(parts)), base

    def _path_parts(self, X: Array, references: Array, reference_scores: Array) -> tuple[Array, Array]:
        feature_map = self.description.feature_map
        unit = float(np.abs(references - references.mean(axis=0)).mean()) or 1.0

        def of_block(block: Array) -> Array:
            rows = feature_map.scaling.apply(block)
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
        row_cost = N_NODES * max(feature_map.kernel.row_cost(n_features), len(references))
        parts, distances, nearest = np.split(map_blocks(of_block, X, row_cost), [n_features, 2 * n_features], axis=1)
        base = reference_scores[nearest[:, 0].astype(int)]
        return made_exact(parts, self.description.scores(X) - base, distances), base

    def _score_gradient(self, scaled: Array, low: Array, high: Array, width: float) -> Array:
        """The gradient of the scores of scaled rows."""
        description, feature_map = self.description, self.description.feature_map
        if not feature_map.kernel.differentiable:

            def score(rows: Array) -> Array:
                return description.scores_of_features(*feature_map.of_scaled(rows))

            return by_differences(score, scaled, low, high, width)
        Phi, _, pullback = feature_map.kernel.features_residual_and_pullback(scaled)
        return pullback(*description.gradient(Phi if feature_map.mean is None else Phi - feature_map.mean))
