"""``explain``, ``explain_outlier``, ``plot_subspace`` and ``plot_history``, as thin methods of a fitted detector."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.description import Description
from pyod_gessvdd.explain.explainer import Explainer, Origins, evenly_by_score
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.whole_space import WholeSpace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = np.ndarray

#: The most training rows whose contributions give the bands of a picture.
MAX_BAND_ROWS = 1000
#: A score recomputed from the training rows is this close to the one found at fit, unless the rows were changed.
SAME_SCORE = 1e-6
#: So many rows of a source are looked at for references.
MAX_SAMPLED = 5000


class Explained(BaseEstimator):
    """Explanations and pictures of a fitted detector.

    The training rows are kept by reference, without a copy; they serve the pictures only and are not saved with the
    model.
    """

    contamination: Any
    description_: Description | WholeSpace
    alpha_: Array
    decision_scores_: Array
    labels_: Array
    threshold_: float
    _training_scores: Any
    history_: list[dict[str, Any]]
    n_features_in_: int
    transform: Callable[[Any], Array]
    decision_function: Callable[[Any], Array]

    def _keep_for_explanations(self, X: Array, scores: Array) -> None:
        """Note what explanations start from; called at the end of fit with the rows and their own scores."""
        self._training_rows = X
        #: What ``decision_function`` gives for the training rows; ``decision_scores_`` may be as if left out.
        self._training_scores = scores
        self._origins = Origins.learn(self.description_, X, scores, self.labels_, self.alpha_)

    def _keep_sampled_origins(self, source: Source, alpha_mean: Array | None) -> None:
        """The same for the rows of a source, which are not kept; paths start from some of its normal rows."""
        self._training_scores = None
        if alpha_mean is not None:
            self._origins = Origins(center=alpha_mean)
            return
        places = np.unique(np.linspace(0, len(source) - 1, MAX_SAMPLED).round().astype(int))
        rows = source.take(places)
        scores = self.description_.scores(rows)
        labels = (scores > self.threshold_).astype(int)
        self._origins = Origins.learn(self.description_, rows, scores, labels, np.zeros(len(rows)))

    @property
    def _explainer(self) -> Explainer:
        return Explainer(self.description_, self._origins)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_training_rows"}

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
        contributions, base = self._explainer.contributions(validated(self, X, reset=False))
        return (contributions, base) if return_base else contributions

    def explain_outlier(
        self,
        ind: int,
        columns: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        file_name: Any = None,
        *,
        cutoffs: Sequence[float] | None = None,
        max_features: int = 20,
        X: Any = None,
    ) -> Figure:
        """Draw one training row's contributions against those of the training rows.

        Parameters
        ----------
        ind : int
            The training row.
        columns : sequence of int or str, optional
            The features to draw, in this order, by place or by name; unless given the ``max_features`` that contribute
            most, largest first.
        feature_names : sequence of str, optional
            A name for each of the D features; ``feature_names_in_`` if there are any and none are given.
        file_name : str or path, optional
            Where to save the picture; PNG unless the name says otherwise.
        cutoffs : sequence of float, optional
            The quantiles of the training rows' contributions to mark; 1 − contamination and 0.99 unless given.
        max_features : int, default=20
            How many features are drawn without ``columns``.
        X : array of shape (N, D), optional
            The training rows, for a model that was loaded: they are not saved with it.

        Returns
        -------
        matplotlib.figure.Figure
            Not shown: a notebook shows it, and ``savefig`` saves it.
        """
        from pyod_gessvdd.explain import plots

        rows = self._training(X)
        index = _checked_index(ind, len(rows))
        names = self._names(feature_names)
        cutoffs = self._cutoffs(cutoffs)
        if columns is None:
            if not isinstance(max_features, int | np.integer) or max_features < 1:
                raise ValueError(f"max_features must be at least 1, got {max_features!r}")
        else:
            columns = _checked_columns(columns, names)
        parts = self._contributions_to_decision(rows, np.array([index]))[0]
        if columns is None:
            columns = np.argsort(-parts, kind="stable")[:max_features].tolist()
        usual = self._contributions_to_decision(rows, evenly_by_score(self.decision_scores_, MAX_BAND_ROWS))
        bands = np.quantile(usual[:, columns], cutoffs, axis=0)
        verdict = "outlier" if self.labels_[index] else "inlier"
        figure = plots.contributions(
            [f"{names[column]} = {rows[index, column]:.4g}" for column in columns],
            parts[columns],
            bands,
            cutoffs,
            title=f"Row {index}: score {self.decision_scores_[index]:.4g}, {verdict}",
            rest=(len(parts) - len(columns), float(parts.sum() - parts[columns].sum())),
        )
        if file_name is not None:
            figure.savefig(file_name, dpi=150)
        return figure

    def plot_subspace(
        self, X: Any = None, *, components: tuple[int, int] = (0, 1), ax: Axes | None = None, max_rows: int = 5000
    ) -> Figure:
        """Draw the training rows, the support vectors, the outliers and the sphere in two subspace coordinates.

        The circle is the sphere's projection onto the two coordinates: a row inside the sphere lies inside it, and a
        row outside the sphere may too, if it is far away in the others. With one coordinate only, the score is drawn
        over it. A half-space's line is where it cuts the plane through the mean of the rows weighted by α.

        Parameters
        ----------
        X : array of shape (n, D), optional
            New rows to draw as well; for a model that was loaded, to draw alone.
        components : tuple of two int, default=(0, 1)
            The columns of ``transform`` to draw; −1 is the last, with ``residual=True`` the residual's.
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
            raise ValueError("the training rows are not saved with a model; pass rows to draw as X")
        n_coordinates = self.description_.n_coordinates
        pair = _checked_components(components, n_coordinates)
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
            points["new row"] = self.transform(X)[:, pair], self.decision_function(X)
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

    def _contributions_to_decision(self, rows: Array, places: Array) -> Array:
        """What the features contribute to the training scores that the labels come from: those as if left out."""
        parts, _ = self._explainer.contributions(rows[places])
        plain = self._training_scores[places]
        grown = np.divide(self.decision_scores_[places], plain, out=np.ones(len(places)), where=plain > 0)
        return parts * grown[:, None]

    # Arguments ------------------------------------------------------------------------------------------------------

    def _names(self, feature_names: Sequence[str] | None) -> list[str]:
        n_features = self.n_features_in_
        if feature_names is None:
            places = [f"feature {place}" for place in range(n_features)]
            return [str(name) for name in getattr(self, "feature_names_in_", places)]
        if isinstance(feature_names, str) or len(feature_names) != n_features:
            given = repr(feature_names) if isinstance(feature_names, str) else f"{len(feature_names)}"
            raise ValueError(f"feature_names must hold a name for each of the {n_features} features, got {given}")
        return [str(name) for name in feature_names]

    def _cutoffs(self, cutoffs: Sequence[float] | None) -> list[float]:
        if cutoffs is None:
            contamination = self.contamination
            share = float(contamination) if isinstance(contamination, numbers.Real) else float(self.labels_.mean())
            return sorted({1.0 - share, 0.99})
        if not len(cutoffs) or not all(isinstance(q, numbers.Real) and 0.0 < q < 1.0 for q in cutoffs):
            raise ValueError(f"cutoffs must be quantiles between 0 and 1, got {cutoffs!r}")
        return sorted({float(q) for q in cutoffs})

    def _training(self, X: Any) -> Array:
        """The training rows, checked to be what the detector was fitted on."""
        check_is_fitted(self, "decision_scores_")
        trained = self._training_scores
        if trained is None:
            raise ValueError("the rows of a source are not kept after fit; explain(X) takes any rows of it")
        rows = getattr(self, "_training_rows", None) if X is None else validated(self, X, reset=False)
        if rows is None:
            raise ValueError("the training rows are not saved with a model; pass them as X")
        if len(rows) != len(trained):
            raise ValueError(f"X must hold the {len(trained)} rows of the training data, got {len(rows)}")
        scores = self.description_.scores(rows)
        changed = np.flatnonzero(~np.isclose(scores, trained, rtol=SAME_SCORE, atol=SAME_SCORE))
        if len(changed):
            i = changed[0]
            raise ValueError(
                f"these are not the rows that the detector was fitted on: row {i} scored {trained[i]:.6g} then and "
                f"{scores[i]:.6g} now; pass the training rows as X"
            )
        return rows


def _checked_index(ind: Any, n_rows: int) -> int:
    if not isinstance(ind, int | np.integer) or isinstance(ind, bool) or not -n_rows <= ind < n_rows:
        raise ValueError(f"ind must be the place of a training row, from 0 to {n_rows - 1}, got {ind!r}")
    return int(ind) % n_rows


def _checked_columns(columns: Sequence[Any], names: list[str]) -> list[int]:
    """The places of the features that ``columns`` gives by place or by name."""
    if isinstance(columns, str) or not len(columns):
        raise ValueError(f"columns must be a list of features, by place or by name, got {columns!r}")
    places = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"columns names {column!r}, which is none of the features {', '.join(names[:10])}")
            places.append(names.index(column))
        elif isinstance(column, int | np.integer) and -len(names) <= column < len(names):
            places.append(int(column) % len(names))
        else:
            raise ValueError(f"columns must be features from 0 to {len(names) - 1} or their names, got {column!r}")
    return places


def _checked_components(components: Any, n_coordinates: int) -> list[int]:
    """The two coordinates to draw, or the only one."""
    if n_coordinates == 1:
        return [0]
    pair = list(components) if isinstance(components, Sequence) else [components]
    good = [i for i in pair if isinstance(i, int | np.integer) and -n_coordinates <= i < n_coordinates]
    if len(pair) != 2 or len(good) != 2 or good[0] % n_coordinates == good[1] % n_coordinates:
        raise ValueError(
            f"components must be two different coordinates from 0 to {n_coordinates - 1}, got {components!r}"
        )
    return [int(i) % n_coordinates for i in good]
