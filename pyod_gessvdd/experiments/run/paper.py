"""The run: all trials that were asked for and are not in the store yet, in processes with one BLAS thread each."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from pyod_gessvdd.experiments.data.paper import Dataset
from pyod_gessvdd.experiments.detectors.paper.methods import Method
from pyod_gessvdd.experiments.protocols.paper_trial import Outcome, Trial, run_trial
from pyod_gessvdd.experiments.run.paper_store import Store

Result = tuple[Trial, "Outcome | tuple[str, str]"]


def plan(
    datasets: Iterable[Dataset], methods: Sequence[Method], descriptions: Iterable[str], n_splits: int
) -> list[Trial]:
    """All trials, split by split, so that a run that is stopped early has something of every method.

    A data set with a split of its own has one trial per target.
    """
    return [
        Trial(dataset.name, description, method.name, target, split)
        for dataset in datasets
        for description in descriptions
        for split in range(1 if dataset.has_own_split else n_splits)
        for method in methods
        if description in method.descriptions
        for target in dataset.targets
    ]


def run(
    trials: Iterable[Trial],
    store: Store,
    data_dir: Path,
    *,
    seed: int = 0,
    quick: bool = False,
    scale: str = "minmax",
    jobs: int = 1,
    progress: Callable[[Trial], None] | None = None,
) -> None:
    """Run the trials, each of which goes to the store when it is finished.

    Parameters
    ----------
    trials : iterable of Trial
        What to run.
    store : Store
        Where results go.
    data_dir : Path
        The folder of the data sets.
    seed, quick, scale
        See :func:`~pyod_gessvdd.experiments.protocols.paper_trial.run_trial`.
    jobs : int, default=1
        The number of processes.
    progress : callable, optional
        Called with each trial after it is stored.
    """
    work = [delayed(_attempt)(trial, data_dir, seed, quick, scale) for trial in trials]
    with parallel_config("loky" if jobs > 1 else "sequential", **({"inner_max_num_threads": 1} if jobs > 1 else {})):
        for trial, result in Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(work):
            if isinstance(result, Outcome):
                store.add(trial, result)
            else:
                store.add_failure(trial, *result)
            if progress:
                progress(trial)


def _attempt(trial: Trial, data_dir: Path, seed: int, quick: bool, scale: str) -> Result:
    """The trial's outcome, or its error and traceback: a failure is a result, never the end of the run."""
    try:
        with threadpool_limits(1, user_api="blas"):
            return trial, run_trial(trial, data_dir, seed=seed, quick=quick, scale=scale)
    except Exception as error:
        return trial, (f"{type(error).__name__}: {error}", traceback.format_exc())
