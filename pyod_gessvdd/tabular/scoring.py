"""From a table to a fitted detector, and from a detector and a table to one with scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyod_gessvdd.components.specs import resolve
from pyod_gessvdd.errors import ModelFileError
from pyod_gessvdd.tabular.loader import Table, TableOptions, load_table
from pyod_gessvdd.tabular.models import ModelCard, versions_of
from pyod_gessvdd.tabular.wording import listed

if TYPE_CHECKING:
    from pandas import DataFrame

#: So many rows are scored at a time by the detectors of this package.
BLOCK_ROWS = 500


class Buildable(Protocol):
    """A detector that can be built: what the user wrote, and how to make one."""

    @property
    def spec(self) -> str: ...  # noqa: D102

    def build(self, seed: int | None = None) -> Any: ...  # noqa: D102


def fit_file(path: Path, detector: Buildable, options: TableOptions, *, seed: int = 0) -> tuple[Any, ModelCard]:
    """Fit a detector on the features of a file.

    Parameters
    ----------
    path : Path
        The file.
    detector : Buildable
        What to build. If its kernel compares categories, it learns which columns hold some.
    options : TableOptions
        How the file is read; with ``normal`` only the rows with that label are trained on.
    seed : int
        For detectors that take a ``random_state``.
    """
    model = detector.build(seed)
    kernel = _kernel_of_categories(model)
    table = load_table(path, options, for_training=True, codes=kernel is not None)
    if kernel is not None and table.preparation.positions:
        model.set_params(kernel=kernel.set_params(categorical=table.preparation.positions))
    try:
        model.fit(_as_taken(model, table.X))
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{detector.spec} cannot be fitted on {path}: {reason}") from error
    return model, _card(model, detector, table)


def _card(model: Any, detector: Buildable, table: Table) -> ModelCard:
    preparation = table.preparation
    return ModelCard(
        detector=detector.spec,
        feature_names=preparation.columns,
        left_out=table.columns.left_out,
        categories=preparation.categories,
        fill=preparation.fill,
        missing=preparation.missing,
        codes=preparation.codes,
        n_rows=len(table.X),
        versions=versions_of(model),
        plugins=list(getattr(model, "plugins_", [])),
    )


def _kernel_of_categories(model: Any) -> Any:
    """The model's kernel if it is one that wants to know which columns hold categories, as ``gower`` does."""
    kernel = getattr(model, "kernel", None)
    if kernel is None or not _is_ours(model):
        return None
    kernel = resolve("kernel", kernel)
    is_asking = "categorical" in kernel.get_params() and isinstance(kernel.categorical, str)
    return kernel if is_asking else None


class Scorer:
    """Adds a model's answers to a table, after a look at whether they have room there.

    Parameters
    ----------
    model, card
        From :func:`~pyod_gessvdd.tabular.models.load_model`.
    top : int
        How many features to name per row, with their contributions; 0 for none.
    explain : {"all", "outliers"}
        Which rows are explained.
    prefix : str
        Put before the names of the new columns.
    """

    def __init__(self, model: Any, card: ModelCard, *, top: int = 3, explain: str = "all", prefix: str = "") -> None:
        explains = callable(getattr(model, "explain", None)) and getattr(model.kernel_, "input_is_rows", True)
        self.model, self.card, self.prefix = model, card, prefix
        self.top = min(top, len(card.feature_names)) if explains else 0
        self.only_outliers = explain == "outliers"

    @property
    def names(self) -> list[str]:
        """The columns that are added."""
        leading = [f"{part}_{i + 1}" for i in range(self.top) for part in ("feature", "contribution")]
        return [f"{self.prefix}{name}" for name in ("score", "label", "probability", *leading)]

    def check(self, frame: DataFrame, path: Path) -> None:
        """See before the work that the table has no columns of these names."""
        taken = [name for name in self.names if name in frame.columns]
        if taken:
            raise ModelFileError(
                f"{path} has columns called {listed(taken)} already; choose other names for the new ones, with "
                "--prefix gessvdd_ for example"
            )

    def score(self, frame: DataFrame, X: DataFrame, complete: np.ndarray, progress: Callable[[int], None]) -> DataFrame:
        """The table with the new columns.

        Parameters
        ----------
        frame : DataFrame
            The table.
        X : DataFrame
            Its complete rows as the model takes them.
        complete : ndarray of bool
            Which rows these are; the others get no answers.
        progress : callable
            Called with the number of rows that are scored, now and then.
        """
        # Other detectors may score a row by its neighbours in the table: they get all rows at once.
        step = BLOCK_ROWS if _is_ours(self.model) else len(X)
        blocks = []
        for start in range(0, len(X), step):
            blocks.append(self._block(X.iloc[start : start + step]))
            progress(min(start + step, len(X)))
        columns = {name: np.concatenate([block[name] for block in blocks]) for name in self.names}
        if complete.all():
            return frame.assign(**columns)
        import pandas

        added = pandas.DataFrame(columns, index=np.flatnonzero(complete)).astype({f"{self.prefix}label": "Int64"})
        added = added.reindex(range(len(frame)))
        # By position: the names of rows may come twice.
        return frame.assign(**{name: added[name].array for name in added})

    def _block(self, X: DataFrame) -> dict[str, np.ndarray]:
        rows = _as_taken(self.model, X)
        scores = np.asarray(self.model.decision_function(rows))
        labels = np.asarray(self.model.predict(rows))
        values: list[Any] = [scores, labels, np.asarray(self.model.predict_proba(rows))[:, 1]]
        if self.top:
            values += self._leading(rows, labels == 1 if self.only_outliers else np.ones(len(X), dtype=bool))
        return dict(zip(self.names, values, strict=True))

    def _leading(self, rows: Any, chosen: np.ndarray) -> list[np.ndarray]:
        """The columns that contribute most to the chosen rows, with their contributions; none for the others."""
        names = np.array(self.card.feature_names, dtype=object)
        features = np.full((len(chosen), self.top), None, dtype=object)
        values = np.full((len(chosen), self.top), np.nan)
        if chosen.any():
            contributions = self._by_column(self.model.explain(rows[chosen]))
            order = np.argsort(-contributions, axis=1, kind="stable")[:, : self.top]
            features[chosen] = names[order]
            values[chosen] = np.take_along_axis(contributions, order, axis=1)
        return [array[:, i] for i in range(self.top) for array in (features, values)]

    def _by_column(self, contributions: np.ndarray) -> np.ndarray:
        """Contributions add up: those of a column's categories are the column's."""
        sources = np.array(self.card.preparation.sources, dtype=object)
        return np.column_stack([contributions[:, sources == name].sum(axis=1) for name in self.card.feature_names])


def _is_ours(model: Any) -> bool:
    return type(model).__module__.startswith("pyod_gessvdd.")


def _as_taken(model: Any, X: DataFrame) -> Any:
    """Our detectors check the names of a DataFrame; others would warn or not look at them."""
    return X if _is_ours(model) else X.to_numpy()
