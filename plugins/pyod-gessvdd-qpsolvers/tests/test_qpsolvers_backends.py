"""What the backends do around the solver: names, parameters, limits, failures, and models without their solver."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pyod_gessvdd import GESSVDD, SVDDDual, available
from pyod_gessvdd.errors import NotSolvedError
from pyod_gessvdd.qp import solve_svdd
from pyod_gessvdd_qpsolvers import SOLVERS, DenseBackend, installed, solvers
from pyod_gessvdd_qpsolvers.dense import MAX_SAMPLES

X = np.random.default_rng(0).normal(size=(60, 3))

every_backend = pytest.mark.parametrize("backend", [pytest.param(each, id=each.solver) for each in SOLVERS])
every_installed = pytest.mark.parametrize("backend", [pytest.param(each, id=each.solver) for each in installed()])


def _needs(backend):
    return pytest.mark.skipif(not backend.is_installed(), reason=f"pip install {backend.distribution}")


def _missing():
    return next(backend for backend in SOLVERS if not backend.is_installed())


def _run_python(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Discovery --------------------------------------------------------------------------------------------------------


def test_the_entry_point_brings_exactly_the_installed_solvers():
    rows = [row for row in available() if row["distribution"] == "pyod-gessvdd-qpsolvers"]
    assert {row["name"] for row in rows} == {backend.name for backend in installed()}
    assert all(row["kind"] == "qp_backend" and row["error"] is None for row in rows)


def test_qpsolvers_finds_the_same_solvers():
    import qpsolvers

    known = {backend.solver for backend in SOLVERS}
    assert {backend.solver for backend in installed()} == set(qpsolvers.available_solvers) & known
    assert set(qpsolvers.available_solvers) <= known, "qpsolvers has a solver that solvers.py does not list"


def test_sparse_and_dense_forms_are_what_qpsolvers_says_of_each_solver():
    import qpsolvers

    for backend in installed():
        of_this_form = qpsolvers.dense_solvers if issubclass(backend, DenseBackend) else qpsolvers.sparse_solvers
        assert backend.solver in of_this_form


def test_discovery_imports_neither_qpsolvers_nor_a_solver():
    code = (
        "import sys, pyod_gessvdd; pyod_gessvdd.available('qp_backend')\n"
        "from pyod_gessvdd_qpsolvers import SOLVERS\n"
        "print(sorted({'qpsolvers', *(each.module for each in SOLVERS)} & set(sys.modules)))"
    )
    assert _run_python(code).strip() == "[]"


def test_a_solver_that_goes_missing_is_not_registered():
    code = (
        "import sys; sys.modules['osqp'] = None\n"
        "import pyod_gessvdd; print(any(r['name'] == 'qpsolvers_osqp' for r in pyod_gessvdd.available()))"
    )
    assert _run_python(code).strip() == "False"


@every_backend
def test_names_are_qpsolvers_names_with_a_prefix(backend):
    assert backend.name == f"qpsolvers_{backend.solver}"
    assert getattr(solvers, backend.__qualname__) is backend


@every_installed
def test_a_fit_by_name_equals_a_fit_with_the_built_in_solver(backend):
    settings = {"kernel": "linear", "n_components": 2, "random_state": 0}
    ours = GESSVDD(qp_backend=backend.name, **settings).fit(X)
    theirs = GESSVDD(qp_backend="frank_wolfe", **settings).fit(X)
    np.testing.assert_allclose(ours.decision_scores_, theirs.decision_scores_, rtol=2e-3)


# Parameters -------------------------------------------------------------------------------------------------------


@every_backend
def test_parameters_survive_clone_and_pickle(backend):
    changed = backend(settings={"some": 1})
    for name in ("eps", "max_iter"):
        if name in changed.get_params():
            changed.set_params(**{name: 7})
    for copy in (clone(changed), pickle.loads(pickle.dumps(changed))):
        assert type(copy) is backend
        assert copy.get_params() == changed.get_params()


@_needs(solvers.Clarabel)
def test_a_spec_string_sets_the_parameters():
    found = solve_svdd(X, nu=0.1, backend="qpsolvers_clarabel(eps=1e-9, settings={'max_threads': 1})")
    assert found.backend == "qpsolvers_clarabel"


@_needs(solvers.Clarabel)
def test_a_hyphen_in_the_name_is_fine():
    assert solve_svdd(X, nu=0.1, backend="qpsolvers-clarabel").backend == "qpsolvers_clarabel"


@_needs(solvers.Clarabel)
def test_settings_reach_the_solver_and_win():
    with pytest.warns(ConvergenceWarning, match="status: Clarabel"):
        found = solve_svdd(X, nu=0.1, backend=solvers.Clarabel(max_iter=100, settings={"max_iter": 6}))
    assert "MaxIterations" in found.status


@_needs(solvers.Clarabel)
def test_eps_reaches_the_solver():
    dual = SVDDDual(X, np.full(60, 0.05))
    rough, fine = (dual.gap(solvers.Clarabel(eps=eps).solve(dual).alpha) for eps in (1e-2, 1e-11))
    assert fine < 1e-9 < rough


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eps": 0.0}, "eps must be positive, got 0.0"),
        ({"eps": "small"}, "eps must be positive, got 'small'"),
        ({"max_iter": 0}, "max_iter must be a positive whole number, got 0"),
        ({"max_iter": 1.5}, "max_iter must be a positive whole number, got 1.5"),
        ({"settings": 3}, "settings must be a mapping from the solver's names to values, got 3"),
    ],
)
def test_bad_parameters_are_one_sentence(parameters, message):
    with pytest.raises(ValueError, match="^" + message.replace(".", r"\.") + "$"):
        solve_svdd(X, nu=0.1, backend=solvers.OSQP(**parameters))


# Failures ---------------------------------------------------------------------------------------------------------


@_needs(solvers.Quadprog)
def test_a_dense_solver_refuses_more_points_than_its_limit():
    points = np.random.default_rng(0).normal(size=(MAX_SAMPLES + 1, 2))
    sentence = (
        f"^qp_backend 'qpsolvers_quadprog' needs a dense N × N matrix and is limited to {MAX_SAMPLES} points, "
        f"got {MAX_SAMPLES + 1}; use 'auto' or one of the sparse solvers$"
    )
    with pytest.raises(ValueError, match=sentence):
        solve_svdd(points, nu=0.1, backend=solvers.Quadprog())


@_needs(solvers.Quadprog)
def test_points_without_weight_do_not_count_towards_the_limit():
    points = np.random.default_rng(0).normal(size=(MAX_SAMPLES + 500, 2))
    weights = np.repeat([1.0, 0.0], [100, MAX_SAMPLES + 400])
    found = solve_svdd(points, nu=0.2, sample_weight=weights, backend=solvers.Quadprog())
    assert found.gap < 1e-8
    assert (found.alpha[100:] == 0).all()


@_needs(solvers.Clarabel)
def test_what_a_solver_raises_becomes_one_sentence():
    sentence = r"^QP backend 'qpsolvers_clarabel' failed: \w+: [^\n]*no_such_option[^\n]*; try qp_backend='auto'$"
    with pytest.raises(NotSolvedError, match=sentence):
        solve_svdd(X, nu=0.1, backend=solvers.Clarabel(settings={"no_such_option": 1}))


@_needs(solvers.DAQP)
def test_a_solver_without_an_answer_says_its_status():
    sentence = r"^QP backend 'qpsolvers_daqp' found no answer \(status: not solved\); try qp_backend='auto'$"
    with pytest.raises(NotSolvedError, match=sentence):
        solve_svdd(X, nu=0.1, backend=solvers.DAQP(max_iter=1))


def test_a_bad_answer_is_refused_by_the_host_with_the_solvers_status():
    sentence = r"QP backend 'qpsolvers_osqp' did not solve .* \(status: OSQP exited with status 'maximum iterations"
    with pytest.raises(NotSolvedError, match=sentence):
        solve_svdd(X, nu=0.1, backend=solvers.OSQP(max_iter=1, settings={"polishing": False}))


def test_a_missing_solver_says_what_to_install():
    missing = _missing()
    sentence = (
        f"^QP backend '{missing.name}' needs the solver '{missing.solver}', which is not installed here; "
        f"pip install {missing.distribution}$"
    )
    with pytest.raises(ImportError, match=sentence):
        solve_svdd(X, nu=0.1, backend=missing())


@_needs(solvers.Clarabel)
@pytest.mark.parametrize("qp_backend", ["qpsolvers_clarabel", solvers.Clarabel()], ids=["name", "instance"])
def test_a_model_names_the_backend_where_its_solver_is_missing(qp_backend, tmp_path):
    model = GESSVDD(kernel="linear", qp_backend=qp_backend, random_state=0).fit(X)
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    code = (
        "import pathlib, pickle, sys; sys.modules['clarabel'] = None\n"
        "from pyod_gessvdd.errors import MissingPluginError\n"
        "try:\n    pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "except MissingPluginError as error:\n    print(error)"
    )
    assert "the qp_backend 'qpsolvers_clarabel' of pyod-gessvdd-qpsolvers 0.1.0" in _run_python(code, str(path))
