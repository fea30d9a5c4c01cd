"""``explain`` and ``explain_outlier``, as thin methods of a fitted detector."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd.description import Description
from pyod_gessvdd.explain.arguments import checked_columns, checked_indices
from pyod_gessvdd.explain.explainer import Explainer, Origins, evenly_by_score
from pyod_gessvdd.preprocessing import validated
from pyod_gessvdd.sources import is_dask
from pyod_gessvdd.sources.source import Source
from pyod_gessvdd.whole_space import WholeSpace

if TYPE_CHECKING:
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
        state = {name: value for name, value in super().__getstate__().items() if name != "_training_rows"}
        # A lazy array knows a scheduler that a file does not: what is saved has none of its values.
        return {name: np.empty(0, value.dtype) if is_dask(value) else value for name, value in state.items()}

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
        ind: Any,
        columns: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        file_name: Any = None,
        *,
        kind: str = "bands",
        cutoffs: Sequence[float] | None = None,
        max_features: int = 20,
        X: Any = None,
    ) -> Figure:
        """Draw what makes training rows abnormal: one against the others, step by step, or several in a heat map.

        Parameters
        ----------
        ind : int or sequence of int
            The training row, or several: they are drawn as a heat map of rows and features.
        columns : sequence of int or str, optional
            The features to draw, in this order, by position or by name; unless given the ``max_features`` that
            contribute most, largest first.
        feature_names : sequence of str, optional
            A name for each of the D features; ``feature_names_in_`` if there are any and none are given.
        file_name : str or path, optional
            Where to save the picture; PNG unless the extension is another.
        kind : {"bands", "waterfall"}, default="bands"
            How one row is drawn: its contributions over the bands of the training rows', or step by step from what they
            start from to the score.
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

        if kind not in ("bands", "waterfall"):
            raise ValueError(f"kind must be 'bands' or 'waterfall', got {kind!r}")
        rows = self._training(X)
        indices = checked_indices(ind, len(rows))
        names = self._names(feature_names)
        cutoffs = self._cutoffs(cutoffs)
        if columns is None:
            if not isinstance(max_features, int | np.integer) or max_features < 1:
                raise ValueError(f"max_features must be at least 1, got {max_features!r}")
        else:
            columns = checked_columns(columns, names)
        parts, base = self._contributions_to_decision(rows, indices)
        if columns is None:
            columns = np.argsort(-parts.max(axis=0), kind="stable")[:max_features].tolist()
        titles = [
            f"Row {i}: score {self.decision_scores_[i]:.4g}, {'outlier' if self.labels_[i] else 'inlier'}"
            for i in indices
        ]
        rest = parts.sum(axis=1) - parts[:, columns].sum(axis=1)
        index = int(indices[0])
        labels = [f"{names[column]} = {rows[index, column]:.4g}" for column in columns]
        if np.ndim(ind) > 0:
            left = f"; {len(names) - len(columns)} more features are not drawn" if len(columns) < len(names) else ""
            title = f"Contributions to the scores of {len(indices)} rows{left}"
            figure = plots.heat_map(titles, [names[column] for column in columns], parts[:, columns], title=title)
        elif kind == "waterfall":
            start = ("nearest normal row" if base[0] else "centre", float(base[0]))
            figure = plots.waterfall(labels, parts[0, columns], start=start, rest=float(rest[0]), title=titles[0])
        else:
            usual, _ = self._contributions_to_decision(rows, evenly_by_score(self.decision_scores_, MAX_BAND_ROWS))
            bands = np.quantile(usual[:, columns], cutoffs, axis=0)
            left_out = (len(names) - len(columns), float(rest[0]))
            figure = plots.contributions(labels, parts[0, columns], bands, cutoffs, title=titles[0], rest=left_out)
        if file_name is not None:
            figure.savefig(file_name, dpi=150)
        return figure

    def _contributions_to_decision(self, rows: Array, places: Array) -> tuple[Array, Array]:
        """What the features contribute to the training scores that the labels come from, and what they start from."""
        parts, base = self._explainer.contributions(rows[places])
        grown = self._grown(places)
        return parts * grown[:, None], base * grown

    def _grown(self, places: Array) -> Array:
        """By how much training rows' scores are larger as if left out."""
        plain = self._training_scores[places]
        return np.divide(self.decision_scores_[places], plain, out=np.ones(len(places)), where=plain > 0)

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
            raise ValueError("the rows of a source are not kept after fit; pass the rows to explain(X)")
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
