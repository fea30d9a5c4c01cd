"""The same jobs on real clusters: Dask with two workers, and Ray where it is installed."""

from __future__ import annotations

import sys

import pytest

from pyod_gessvdd.compare import compare
from pyod_gessvdd.errors import ComparisonError
from tests.experiments.toy import BAD, arrays

SPECS = ["iforest(n_estimators=10)", f"{BAD}:Good", f"{BAD}:Raises"]
OPTIONS = {"seeds": 2, "timeout": 120}
FIGURES = ["detector", "seed", "status", "roc_auc", "gmean", "error"]


@pytest.fixture(scope="module")
def here():
    """What comes out on this machine alone."""
    return compare({"toy": arrays()}, SPECS, **OPTIONS).table[FIGURES]


@pytest.mark.filterwarnings("ignore")  # what a cluster's own start-up warns about is not ours
def test_a_dask_cluster_of_two_workers_finds_the_same(here):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        result = compare({"toy": arrays()}, SPECS, backend="dask", scheduler=cluster.scheduler_address, **OPTIONS)
        with distributed.Client(cluster) as client:
            workers = client.run(_had_work)
    assert result.table[FIGURES].equals(here)
    # Both had work.
    assert list(workers.values()) == [True, True]


def _had_work():
    """Whether a job was run in this worker."""
    from pyod_gessvdd.experiments.run import spool

    return bool(spool._written)


@pytest.mark.filterwarnings("ignore")
def test_a_ray_cluster_finds_the_same(here, monkeypatch):
    # Otherwise Ray writes a token for its own cluster into the home folder.
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        result = compare({"toy": arrays()}, SPECS, backend="ray", scheduler="auto", **OPTIONS)
    finally:
        ray.shutdown()
    assert result.table[FIGURES].equals(here)


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_does_not_answer_is_named():
    pytest.importorskip("distributed", reason="needs the extra dask")
    with pytest.raises(ComparisonError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9: "):
        compare({"toy": arrays()}, SPECS[1], backend="dask", scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize(("backend", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_backend_that_is_not_installed_names_its_extra(monkeypatch, backend, module):
    monkeypatch.setitem(sys.modules, module, None)
    sentence = rf"the backend {backend} needs {module}, .*pip install 'pyod-gessvdd\[{backend}\]'"
    with pytest.raises(ComparisonError, match=sentence):
        compare({"toy": arrays()}, SPECS[1], backend=backend, scheduler="x")
