"""From a table to a fitted detector, and from a detector and a table to one with scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyod_gessvdd.errors import ModelFileError
from pyod_gessvdd.tabular.frames import listed, numeric_features
from pyod_gessvdd.tabular.labels import outlier_labels
from pyod_gessvdd.tabular.models import ModelCard, versions_of

if TYPE_CHECKING:
    from pandas import DataFrame


class Buildable(Protocol):
    """A detector that can be built: what the user wrote, and how to make one."""

    @property
    def spec(self) -> str: ...  # noqa: D102

    def build(self, seed: int | None = None) -> Any: ...  # noqa: D102


def fit_frame(
    frame: DataFrame,
    detector: Buildable,
    path: Path,
    *,
    label: str | None = None,
    normal: str | None = None,
    drop: tuple[str, ...] = (),
    seed: int = 0,
) -> tuple[Any, ModelCard]:
    """Fit a detector on all columns of a table but the label and those to drop.

    Parameters
    ----------
    frame : DataFrame
        The table.
    detector : Buildable
        What to build.
    path : Path
        Where the table is from, for messages.
    label : str, optional
        The label column; never a feature.
    normal : str, optional
        Train only on the rows with this label.
    drop : tuple of str
        Columns that are no features either.
    seed : int
        For detectors that take a ``random_state``.
    """
    left_out = [*dict.fromkeys([*([label] if label is not None else []), *drop])]
    unknown = [name for name in left_out if name not in frame.columns]
    if unknown:
        raise ModelFileError(f"{path} has no column {listed(unknown)}; its columns are {listed(frame.columns)}")
    names = [name for name in frame.columns if name not in left_out]
    if not names:
        raise ModelFileError(f"{path} has no column left to fit on")
    if normal is not None:
        if label is None:
            raise ModelFileError("--normal is a value of the label column; name that with --label")
        n_missing = int(frame[label].isna().sum())
        if n_missing:
            raise ModelFileError(f"{path}: the label column {label!r} has {n_missing} missing values; fill them")
        frame = frame[outlier_labels(frame[label].to_numpy(), normal, str(path)) == 0]
    X = numeric_features(frame, names, path)
    model = detector.build(seed)
    try:
        model.fit(_as_taken(model, X))
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"{detector.spec} cannot be fitted on {path}: {reason}") from error
    plugins = list(getattr(model, "plugins_", []))
    return model, ModelCard(detector.spec, names, left_out, len(X), versions_of(model), plugins)


def score_frame(
    frame: DataFrame, model: Any, card: ModelCard, path: Path, *, top: int = 3, explain: str = "all", prefix: str = ""
) -> DataFrame:
    """The table with columns more: score, label, probability and, if the model can tell, the leading features.

    Parameters
    ----------
    frame : DataFrame
        The rows; features are found by name, other columns are kept.
    model, card
        From :func:`~pyod_gessvdd.tabular.models.load_model`.
    path : Path
        Where the table is from, for messages.
    top : int
        How many features to name per row, with their contributions; 0 for none.
    explain : {"all", "outliers"}
        Which rows are explained.
    prefix : str
        Put before the names of the new columns.
    """
    X = numeric_features(frame, card.feature_names, path)
    rows = _as_taken(model, X)
    labels = np.asarray(model.predict(rows))
    added: dict[str, Any] = {
        "score": np.asarray(model.decision_function(rows)),
        "label": labels,
        "probability": np.asarray(model.predict_proba(rows))[:, 1],
    }
    if top and callable(getattr(model, "explain", None)) and getattr(model.kernel_, "input_is_rows", True):
        chosen = np.ones(len(X), dtype=bool) if explain == "all" else labels == 1
        added |= _leading(model, rows, chosen, card.feature_names, top)
    added = {f"{prefix}{name}": values for name, values in added.items()}
    taken = [name for name in added if name in frame.columns]
    if taken:
        raise ModelFileError(
            f"{path} has columns called {listed(taken)} already; choose other names for the new ones with --prefix"
        )
    return frame.assign(**added)


def _leading(model: Any, rows: Any, chosen: np.ndarray, names: list[str], top: int) -> dict[str, Any]:
    """The features that contribute most to the chosen rows, with their contributions; none for the others."""
    count = min(top, len(names))
    features = np.full((len(chosen), count), None, dtype=object)
    values = np.full((len(chosen), count), np.nan)
    if chosen.any():
        contributions = model.explain(rows[chosen])
        order = np.argsort(-contributions, axis=1, kind="stable")[:, :count]
        features[chosen] = np.array(names, dtype=object)[order]
        values[chosen] = np.take_along_axis(contributions, order, axis=1)
    columns: dict[str, Any] = {}
    for i in range(count):
        columns[f"feature_{i + 1}"] = features[:, i]
        columns[f"contribution_{i + 1}"] = values[:, i]
    return columns


def _as_taken(model: Any, X: DataFrame) -> Any:
    """Our detectors check the names of a DataFrame; others would warn or not look at them."""
    return X if type(model).__module__.startswith("pyod_gessvdd.") else X.to_numpy()
