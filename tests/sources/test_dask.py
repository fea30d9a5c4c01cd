"""Dask arrays and DataFrames: the fit in memory on the user's own scheduler, lazy answers, and rows that stay put."""

from __future__ import annotations

import os
import pickle
import signal

import numpy as np
import pytest

from pyod_gessvdd import GESSVDD, sources
from pyod_gessvdd.errors import SourceError

dask = pytest.importorskip("dask", reason="Dask is the extra 'dask'")
da = pytest.importorskip("dask.array", reason="Dask is the extra 'dask'")
dd = pytest.importorskip("dask.dataframe", reason="Dask is the extra 'dask'")
pandas = pytest.importorskip("pandas", reason="frames need pandas")

N, D = 31_000, 3


@pytest.fixture(autouse=True)
def nothing_is_read_into_memory(monkeypatch):
    monkeypatch.setattr(sources, "SMALL_ROWS", 1000)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).exponential(size=(N, D))


@pytest.fixture(scope="module")
def in_memory(X):
    return GESSVDD(kernel="linear", random_state=0).fit(X)


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_a_dask_array_gives_the_fit_in_memory_and_lazy_scores(X, in_memory, scheduler):
    rows = da.from_array(X, chunks=(4000, D))
    with dask.config.set(scheduler=scheduler):
        detector = GESSVDD(kernel="linear", random_state=0).fit(rows)
        for name in ("decision_scores_", "labels_", "alpha_", "trusted_"):
            assert isinstance(getattr(detector, name), da.Array)
        np.testing.assert_allclose(detector.decision_scores_.compute(), in_memory.decision_scores_, rtol=1e-8)
        np.testing.assert_array_equal(detector.labels_.compute(), in_memory.labels_)
        np.testing.assert_array_equal(detector.trusted_.compute(), in_memory.trusted_)
        np.testing.assert_array_equal(detector.support_.compute(), in_memory.support_)
        np.testing.assert_array_equal(detector.boundary_, in_memory.boundary_)
    assert detector.threshold_ == pytest.approx(in_memory.threshold_, rel=1e-8)
    assert detector.history_[-1]["gap"] <= 1e-8
    np.testing.assert_allclose(detector.p_values(X[:99]), in_memory.p_values(X[:99]), atol=1e-3)


def test_a_subspace_of_kernel_features_of_a_dask_array_is_that_of_the_rows_in_memory(X):
    params = {"kernel": "rbf(n_landmarks=30)", "n_components": 2, "n_iter": 1, "laplacian": "pca", "random_state": 0}
    detector = GESSVDD(**params).fit(da.from_array(X, chunks=(9000, D)))
    expected = GESSVDD(**params).fit(X)
    np.testing.assert_allclose(detector.decision_scores_.compute(), expected.decision_scores_, rtol=1e-8)
    np.testing.assert_array_equal(detector.labels_.compute(), expected.labels_)


def test_answers_for_a_dask_array_are_lazy_and_those_of_its_rows(X, in_memory):
    rows = da.from_array(X[:5000], chunks=(1500, 2))
    for method, shape in (
        ("decision_function", (5000,)),
        ("predict", (5000,)),
        ("predict_proba", (5000, 2)),
        ("predict_confidence", (5000,)),
        ("transform", (5000, D + 1)),
    ):
        answer = getattr(in_memory, method)(rows)
        assert isinstance(answer, da.Array)
        assert answer.shape == shape
        expected = getattr(in_memory, method)(X[:5000])
        assert answer.dtype == expected.dtype
        np.testing.assert_array_equal(answer.compute(scheduler="sync"), expected)
    labels, confidence = in_memory.predict(rows, return_confidence=True)
    np.testing.assert_array_equal(confidence.compute(), in_memory.predict(X[:5000], return_confidence=True)[1])
    probabilities, _ = in_memory.predict_proba(rows, method="unify", return_confidence=True)
    np.testing.assert_array_equal(probabilities.compute(), in_memory.predict_proba(X[:5000], method="unify"))
    assert labels.dtype == int


def test_a_dask_frame_keeps_its_index_and_names(X):
    frame = pandas.DataFrame(X, columns=list("abc"), index=np.arange(N) * 10)
    lazy = dd.from_pandas(frame, npartitions=5)
    detector = GESSVDD(kernel="linear", random_state=0).fit(lazy)
    in_memory = GESSVDD(kernel="linear", random_state=0).fit(frame)
    assert detector.feature_names_in_.tolist() == list("abc")
    np.testing.assert_allclose(detector.decision_scores_.compute(), in_memory.decision_scores_, rtol=1e-8)
    scores = detector.decision_function(lazy)
    assert isinstance(scores, dd.Series)
    pandas.testing.assert_series_equal(
        scores.compute(), pandas.Series(in_memory.decision_function(frame), frame.index, name="score"), rtol=1e-8
    )
    assert detector.predict(lazy).name == "label"
    found = detector.predict_proba(lazy).compute()
    assert found.columns.tolist() == ["inlier", "outlier"]
    assert found.index.equals(frame.index)
    assert detector.transform(lazy).compute().columns.tolist() == ["z1", "z2", "z3", "z4"]
    with pytest.raises(ValueError, match="feature names"):
        detector.decision_function(lazy.rename(columns={"a": "x"})).compute()


def test_an_empty_partition_adds_nothing(X, in_memory):
    frame = dd.from_pandas(pandas.DataFrame(X, columns=list("abc")), npartitions=4)
    rows = dd.concat([frame, frame.partitions[0][frame.partitions[0]["a"] < 0]])
    assert 0 in rows.map_partitions(len).compute().tolist()
    detector = GESSVDD(kernel="linear", random_state=0).fit(rows)
    np.testing.assert_allclose(detector.decision_scores_.compute(), in_memory.decision_scores_, rtol=1e-8)
    assert len(detector.predict(rows).compute()) == N


def test_split_columns_are_rechunked_with_a_warning(X, in_memory):
    with pytest.warns(UserWarning, match=r"the columns of the Dask array are split into 2 chunks; rechunking them"):
        detector = GESSVDD(kernel="linear", random_state=0).fit(da.from_array(X, chunks=(9000, 2)))
    assert detector.threshold_ == pytest.approx(in_memory.threshold_, rel=1e-8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: da.from_array(X)[da.from_array(X)[:, 0] > 0], r"chunks of unknown sizes.*X.compute_chunk_sizes\(\)"),
        (lambda X: da.from_array(X[:, 0]), r"needs an array with two dimensions, got shape \(31000,\)"),
        (lambda X: da.from_array(X.astype(str)), "the Dask array holds values of type <U32; a source needs numbers"),
        (
            lambda X: dd.from_pandas(pandas.DataFrame({"a": list("xy")}), npartitions=1),
            "column 'a' of the Dask DataFrame holds values of type .*; a source needs numbers: convert or drop",
        ),
    ],
)
def test_collections_that_are_no_rows_of_numbers_are_refused(X, make, message):
    detector = GESSVDD()
    with pytest.raises(SourceError, match=message):
        detector.fit(make(X))
    assert not hasattr(detector, "n_features_in_")


def test_a_value_that_is_not_finite_is_named(X):
    rows = X.copy()
    rows[17_001, 2] = np.nan
    with pytest.raises(ValueError, match="row 17001 of column 2 is NaN: row 2001 of the block that starts at row 150"):
        GESSVDD().fit(da.from_array(rows, chunks=(5000, D)))


def test_partitions_of_other_types_are_named(X):
    frame = pandas.DataFrame(X, columns=list("abc"))
    parts = [dask.delayed(frame), dask.delayed(frame.astype({"b": "f4"}))]
    mixed = dd.from_delayed(parts, meta=frame[:0], verify_meta=False)
    with pytest.raises(
        SourceError, match="partition 1 holds values of type float32 where the collection declares float64"
    ):
        GESSVDD().fit(mixed)


def test_partitions_that_have_fewer_rows_than_they_say_are_named(X):
    parts = [da.from_delayed(dask.delayed(X[:n]), (9000, D), dtype=float) for n in (9000, 8999)]
    with pytest.raises(SourceError, match="partition 1 has 8999 rows and had 9000 before: every pass must see"):
        GESSVDD().fit(da.concatenate(parts))


# On a cluster -------------------------------------------------------------------------------------------------------

distributed = pytest.importorskip("distributed", reason="clusters are the extra 'dask'")


@pytest.fixture
def cluster():
    with (
        # With work stealing an idle worker would take rows from a busy one.
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", worker_dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def persisted(client, n_rows):
    # Made by the workers: the client never has the rows.
    rows = da.random.default_rng(0).exponential(size=(n_rows, 20), chunks=(n_rows // 8, 20)).persist()
    distributed.wait(rows)
    return rows


def received(dask_worker):
    return sum(line["total"] for line in dask_worker.transfer_incoming_log)


def test_rows_do_not_leave_their_workers(cluster):
    rows = persisted(cluster, 2_000_000)
    returned = []
    original = dask.compute

    def counting(*tasks, **params):
        answers = original(*tasks, **params)
        returned.append(len(pickle.dumps(answers)))
        return answers

    dask.compute = counting
    try:
        detector = GESSVDD(kernel="linear", trim=None, laplacian="pca", standardize=True, random_state=0).fit(rows)
    finally:
        dask.compute = original
    between_workers = sum(cluster.run(received).values())
    assert len(returned) >= 5
    assert sum(returned) + between_workers <= 0.01 * rows.nbytes
    assert detector.history_[-1]["gap"] <= 1e-8


def test_a_fit_survives_a_worker_that_is_killed(cluster):
    rows = persisted(cluster, 200_000)
    expected = GESSVDD(kernel="linear", random_state=0).fit(rows.compute())
    pids = list(cluster.run(os.getpid).values())
    original, passes = dask.compute, []

    def killing(*tasks, **params):
        passes.append(len(tasks))
        if len(passes) == 5:
            os.kill(pids[0], signal.SIGKILL)
        return original(*tasks, **params)

    dask.compute = killing
    try:
        detector = GESSVDD(kernel="linear", random_state=0).fit(rows)
    finally:
        dask.compute = original
    assert len(passes) > 5
    np.testing.assert_allclose(detector.decision_scores_.compute(), expected.decision_scores_, rtol=1e-8)


def test_scores_outlive_the_variable_that_held_the_rows(cluster, X, in_memory):
    detector = GESSVDD(kernel="linear", random_state=0).fit(da.from_array(X, chunks=(9000, D)).persist())
    np.testing.assert_allclose(detector.decision_scores_.compute(), in_memory.decision_scores_, rtol=1e-8)


def test_a_scheduler_that_goes_away_is_told_in_one_sentence(X):
    cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0")
    client = distributed.Client(cluster)
    rows = da.from_array(X, chunks=(5000, D))
    detector = GESSVDD(kernel="linear")
    original, passes = dask.compute, []

    def closing(*tasks, **params):
        passes.append(len(tasks))
        if len(passes) == 3:
            cluster.close()
        return original(*tasks, **params)

    dask.compute = closing
    try:
        with pytest.raises(SourceError, match=r"the Dask scheduler went away during a pass .* fit again"):
            detector.fit(rows)
    finally:
        dask.compute = original
        client.close()
    assert not hasattr(detector, "decision_scores_")
