"""``plot_outlier_map``, ``plot_subspace`` and ``plot_history``, as thin methods of a fitted detector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.explain.arguments import checked_components
from pyod_gessvdd.explain.distances import LEADING, check_has_two_parts, squared_coordinates, two_parts
from pyod_gessvdd.explain.explained import Explained
from pyod_gessvdd.explain.explainer import evenly_by_score
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.whole_space import WholeSpace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray

NO_ROWS = "the training rows are not saved with a model; pass rows to draw as X"


class Pictured(Explained):
    """Pictures of all rows of a fitted detector."""

    threshold_: float

    def plot_outlier_map(
        self,
        X: Any = None,
        *,
        n_directions: int | None = None,
        n_named: int = 5,
        ax: Axes | None = None,
        max_rows: int = 5000,
    ) -> Figure:
        """Draw every row by its distance from the centre inside the subspace and by its distance outside of it.

        The two are a row's score in two parts: their squares add up to it, so the sphere ‖z − u‖² + r²/ρ = R² is a
        circle around the corner, and so is the threshold of labels. A row far to the right is an extreme of what the
        training rows vary in; one far up is unlike all of them. Training rows have the scores that their labels come
        from, as if each had been left out; what they gain by that is outside.

        Parameters
        ----------
        X : array of shape (n, D), optional
            New rows to draw as well; for a model that was loaded, to draw alone.
        n_directions : int, optional
            How many leading directions of the whole space count as inside, 10 unless given. A subspace has as many as
            it has.
        n_named : int, default=5
            How many of the rows with the highest scores are named by their place.
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        max_rows : int, default=5000
            Above this number of training rows these many are drawn.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from pyod_gessvdd.explain import plots

        check_is_fitted(self, "decision_scores_")
        description = self.description_
        check_has_two_parts(description)
        training = getattr(self, "_training_rows", None)
        new = None if X is None else validated(self, X, reset=False)
        drawn = evenly_by_score(self.decision_scores_, max_rows)
        if training is not None:
            scores = self.decision_scores_[drawn]
            squares = squared_coordinates(description, training[drawn])
        elif new is not None:
            scores = description.scores(new)
            squares = squared_coordinates(description, new)
        else:
            raise ValueError(NO_ROWS)
        d = self._n_directions(n_directions, squares.shape[1])
        inside, outside = two_parts(squares, scores, d)
        usual = scores <= self.threshold_ if training is None else self.labels_[drawn] == 0
        usual = usual if usual.any() else np.ones(len(usual), dtype=bool)
        cutoffs = (float(np.quantile(inside[usual], 0.975)), float(np.quantile(outside[usual], 0.975)))
        points = {}
        if training is not None:
            points["training row"] = inside[usual], outside[usual]
            points["outlier"] = inside[~usual], outside[~usual]
            if new is not None:
                inside, outside = two_parts(squared_coordinates(description, new), description.scores(new), d)
        if new is not None:
            points["new row"] = inside, outside
        places = drawn if new is None else np.arange(len(inside))
        top = np.argsort(-(inside**2 + outside**2), kind="stable")[: max(int(n_named), 0)]
        whole = isinstance(description, WholeSpace)
        return plots.outlier_map(
            points,
            threshold=self.threshold_,
            cutoffs=cutoffs,
            named=[(float(inside[i]), float(outside[i]), str(places[i])) for i in top],
            labels=(
                f"inside: in the {d} leading directions" if whole else f"inside the subspace of {d} dimensions",
                "outside: in all others" if whole else "outside the subspace",
            ),
            ax=ax,
        )

    def _n_directions(self, given: int | None, n_all: int) -> int:
        if given is None:
            return min(LEADING, n_all) if isinstance(self.description_, WholeSpace) else n_all
        if not isinstance(self.description_, WholeSpace):
            raise ValueError(f"n_directions is for a whole space; all {n_all} dimensions of this subspace are inside")
        if not isinstance(given, int | np.integer) or not 1 <= given <= n_all:
            raise ValueError(f"n_directions must be between 1 and {n_all}, got {given!r}")
        return int(given)

    def plot_subspace(
        self, X: Any = None, *, components: tuple[int, int] | None = None, ax: Axes | None = None, max_rows: int = 5000
    ) -> Figure:
        """Draw the training rows, the support vectors, the outliers and the sphere in two subspace coordinates.

        The circle is the sphere's projection onto the two coordinates: a row inside the sphere lies inside it, and a
        row outside the sphere may too, if it is far away in the others. With one coordinate only, the score is drawn
        over it. A half-space's line is where it cuts the plane through the mean of the rows weighted by α.

        Parameters
        ----------
        X : array of shape (n, D), optional
            New rows to draw as well; for a model that was loaded, to draw alone.
        components : tuple of two int, optional
            The columns of ``transform`` to draw; −1 is the last, with ``residual=True`` the residual's. Unless given,
            the two in which the training rows' outliers stand out most, and the first two if there are none.
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        max_rows : int, default=5000
            Above this number of training rows these many are drawn, the support vectors among them not more often than
            others.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from pyod_gessvdd.explain import plots

        check_is_fitted(self, "decision_scores_")
        training = getattr(self, "_training_rows", None)
        if training is None and X is None:
            raise ValueError(NO_ROWS)
        n_coordinates = self.description_.n_coordinates
        pair = self._pair(components, training)
        points: dict[str, tuple[Array, Array]] = {}
        if training is not None:
            drawn = evenly_by_score(self.decision_scores_, max_rows)
            Z = self.description_.transform(training[drawn])[:, pair]
            scores = self._training_scores[drawn]
            outlying, support = self.labels_[drawn] == 1, self.alpha_[drawn] > 0
            points["training row"] = Z[~outlying], scores[~outlying]
            points["outlier"] = Z[outlying], scores[outlying]
            points["support vector"] = Z[support], scores[support]
        if X is not None:
            new = validated(self, X, reset=False)
            points["new row"] = self.description_.transform(new)[:, pair], self.description_.scores(new)
        labels = [
            "residual r/√ρ" if self.description_.has_residual and i == n_coordinates - 1 else f"z{i + 1}" for i in pair
        ]
        reach = 2.0 * max(float(np.abs(Z).max()) for Z, _ in points.values() if len(Z))
        return plots.subspace(points, labels, self.description_.outline(pair, reach), ax)

    def plot_history(self, ax: Any = None) -> Figure:
        """Draw the criterion, the radius and the duality gap of each iteration; the iterate that was kept is marked.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of three, optional
            Three are for criterion, radius and gap; one gets the criterion, with the radius on the right. Unless given,
            a new figure with three.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from pyod_gessvdd.explain import plots

        check_is_fitted(self, "decision_scores_")
        return plots.history(self.history_, getattr(self, "best_iteration_", len(self.history_) - 1), ax)

    def _pair(self, components: Any, training: Array | None) -> list[int]:
        n_coordinates = self.description_.n_coordinates
        if components is not None or n_coordinates == 1 or training is None or not self.labels_.any():
            return checked_components((0, 1) if components is None else components, n_coordinates)
        # Where outliers are far from the usual rows, in the unit of the usual rows.
        drawn = evenly_by_score(self.decision_scores_, 2000)
        Z, outlying = self.description_.transform(training[drawn]), self.labels_[drawn] == 1
        if not outlying.any() or outlying.all():
            return [0, 1]
        middle = np.median(Z[~outlying], axis=0)
        spread = np.median(np.abs(Z[~outlying] - middle), axis=0)
        away = np.median(np.abs(Z[outlying] - middle), axis=0)
        stands_out = np.divide(away, spread, out=np.zeros(n_coordinates), where=spread > 0)
        if self.description_.has_residual and n_coordinates > 2:
            stands_out = stands_out[:-1]  # a length, whose scale is no coordinate's; the outlier map shows it
        return sorted(np.argsort(-stands_out, kind="stable")[:2].tolist())
