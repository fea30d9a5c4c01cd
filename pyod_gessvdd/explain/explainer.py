"""Which feature makes how much of a row's score: what is needed of a fit, kept small, and the contributions from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import manhattan_distances

from pyod_gessvdd.description import Description
from pyod_gessvdd.explain.attribution import N_NODES, along_path, by_differences, made_exact
from pyod_gessvdd.linalg import map_blocks, row_blocks
from pyod_gessvdd.whole_space import WholeSpace

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
    def learn(
        cls, description: Description | WholeSpace, X: Array, scores: Array, labels: Array, alpha: Array
    ) -> Origins:
        """Those of a fit to the rows of X with these scores, labels and α."""
        if isinstance(description, Description) and description.kernel.is_identity:
            feature_map = description.feature_map
            support, center = np.flatnonzero(alpha), np.zeros(feature_map.n_features)
            for rows in row_blocks(len(support), len(center)):
                center += alpha[support[rows]] @ feature_map.features(X[support[rows]])[0]
            return cls(center=center)
        if not description.kernel.input_is_rows:
            return cls()
        normal = np.flatnonzero(labels == 0) if not labels.all() else np.arange(len(labels))
        chosen = normal[evenly_by_score(scores[normal], MAX_REFERENCES)]
        return cls(references=description.scaling.apply(X[chosen]), scores=scores[chosen])


@dataclass(frozen=True, eq=False)
class Explainer:
    """Contributions to the scores of a description, from these origins."""

    description: Description | WholeSpace
    origins: Origins

    def contributions(self, X: Array) -> tuple[Array, Array]:
        """What each feature contributes to each row's score, of shape (n, D), and what they start from, (n,)."""
        kernel = self.description.kernel
        center, references, scores = self.origins.center, self.origins.references, self.origins.scores
        if center is not None and isinstance(self.description, Description):
            parts, base = _linear_parts(self.description, X, center)
            return self._by_column(parts, X), base
        if references is not None and scores is not None:
            return self._path_parts(X, references, scores)
        raise ValueError(
            f"kernel {kernel.name!r} takes kernel values, not features, so there is nothing to attribute a "
            "score to; fit on the rows with a kernel function to explain them"
        )

    def _path_parts(self, X: Array, references: Array, reference_scores: Array) -> tuple[Array, Array]:
        description = self.description
        unit = float(np.abs(references - references.mean(axis=0)).mean()) or 1.0

        def of_block(block: Array) -> Array:
            rows = description.scaling.apply(block)
            distances = manhattan_distances(rows, references)
            # A reference is not its own, or every training row would be explained by nothing.
            nearest = np.where(distances > 0, distances, np.inf).argmin(axis=1)
            start = references[nearest]
            low, high = np.minimum(start, rows), np.maximum(start, rows)

            def gradient(on_path: Array) -> Array:
                return self._score_gradient(on_path, low, high, unit * DIFFERENCE_STEP)

            return np.column_stack([along_path(gradient, start, rows, unit), np.abs(rows - start), nearest])

        n_columns = references.shape[1]
        # Small blocks: a single row costs as much as a whole one, at every node.
        row_cost = N_NODES * max(description.row_cost(X.shape[1]), len(references))
        parts, distances, nearest = np.split(map_blocks(of_block, X, row_cost), [n_columns, 2 * n_columns], axis=1)
        base = reference_scores[nearest[:, 0].astype(int)]
        parts = made_exact(parts, description.scores(X) - base, distances)
        return self._by_column(parts, X), base

    def _by_column(self, parts: Array, X: Array) -> Array:
        """What the views of a column contribute together, of shape (n, D)."""
        return parts.reshape(len(X), -1, X.shape[1]).sum(axis=1)

    def _score_gradient(self, scaled: Array, low: Array, high: Array, width: float) -> Array:
        """The gradient of the scores of scaled rows."""
        if self.description.kernel.differentiable:
            return self.description.gradient_of_scaled(scaled)
        return by_differences(self.description.scores_of_scaled, scaled, low, high, width)


def _linear_parts(description: Description, X: Array, center: Array) -> tuple[Array, Array]:
    base = np.full(len(X), description.base(center))
    parts = description.feature_map.apply(lambda Phi, missed: description.contributions(Phi, center), X)
    # Only rounding is left to share out.
    return made_exact(parts, description.scores(X) - base, np.ones_like(parts)), base
