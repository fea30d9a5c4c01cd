"""Saved models: what a fresh process makes of them, with and without the packages that they need."""

import json
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from pyod.utils import persistence
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.errors import MissingPluginError

KERNELS = ("linear", "rbf", "laplacian", "polynomial", "sigmoid", "cosine", "chi2", "additive_chi2", "precomputed")


def python(script, *arguments, path=None):
    """Run a script in a fresh interpreter, with one directory more to import from if ``path`` is given."""
    paths = [os.environ.get("PYTHONPATH"), None if path is None else str(path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Round trips ----------------------------------------------------------------------------------------------------------

SAVERS = {
    "pickle": lambda model, file: file.write_bytes(pickle.dumps(model)),
    "joblib": lambda model, file: joblib.dump(model, file),
    "pyod": lambda model, file: persistence.save(model, str(file)),
}

SCORE_ALL = """
    import pathlib, pickle, sys
    import joblib, numpy as np
    from pyod.utils import persistence

    loaders = {
        "pickle": lambda file: pickle.loads(file.read_bytes()),
        "joblib": joblib.load,
        "pyod": lambda file: persistence.load(str(file), trusted=True),
    }
    for folder in pathlib.Path(sys.argv[1]).iterdir():
        X = np.load(folder / "X.npy")
        for name, load in loaders.items():
            model = load(folder / name)
            found = {
                "scores": model.decision_function(X),
                "labels": model.predict(X),
                "probabilities": model.predict_proba(X),
                "confidence": model.predict_confidence(X),
                "coordinates": model.transform(X),
                "trained": model.decision_scores_,
            }
            np.savez(folder / f"{name}.npz", **found)
"""


def models():
    """A fitted model and rows that it can score, for every kind of state that a model holds."""
    random = np.random.default_rng(0)
    train, rows = np.abs(random.normal(size=(60, 4))), np.abs(random.normal(size=(9, 4)))
    cases = {kernel: {"kernel": kernel} for kernel in KERNELS}
    cases |= {"chi2": {"kernel": "chi2", "standardize": False}}
    cases |= {"additive_chi2": {"kernel": "additive_chi2", "standardize": False}}
    cases |= {
        "function": {"kernel": rbf_kernel},
        "nystroem": {"kernel": "rbf(approximation='nystroem', n_landmarks=20)"},
        "sum of graphs": {"kernel": "linear", "laplacian": "0.7*knn + 0.3*pca"},
        "matrix": {"kernel": "linear", "laplacian": np.diag(np.full(60, 60.0)) - 1.0},
        "radius": {"kernel": "linear", "threshold": "radius"},
        "array start": {"kernel": "linear", "init": np.eye(4)[:2]},
    }
    fitted = {}
    for name, params in cases.items():
        if name == "precomputed":
            X_train, X = rbf_kernel(train), rbf_kernel(rows, train)
        else:
            X_train, X = train, rows
        params = {"n_components": 2, "laplacian": "pca", **params}
        fitted[name] = GESSVDD(random_state=0, **params).fit(X_train), X
    return fitted


@pytest.fixture(scope="module")
def round_trips(tmp_path_factory):
    """Every model, and the folder in which a fresh process left what it made of the saved ones."""
    home = tmp_path_factory.mktemp("models")
    fitted = models()
    for name, (model, X) in fitted.items():
        folder = home / name
        folder.mkdir()
        np.save(folder / "X.npy", X)
        for saver, save in SAVERS.items():
            save(model, folder / saver)
    python(SCORE_ALL, home)
    return home, fitted


@pytest.mark.parametrize("saver", SAVERS)
@pytest.mark.parametrize("name", [*KERNELS, "function", "nystroem", "sum of graphs", "matrix", "radius", "array start"])
def test_fresh_process_gives_the_same_bits(name, saver, round_trips):
    home, fitted = round_trips
    model, X = fitted[name]
    with np.load(home / name / f"{saver}.npz") as found:
        assert_array_equal(found["scores"], model.decision_function(X))
        assert_array_equal(found["labels"], model.predict(X))
        assert_array_equal(found["probabilities"], model.predict_proba(X))
        assert_array_equal(found["confidence"], model.predict_confidence(X))
        assert_array_equal(found["coordinates"], model.transform(X))
        assert_array_equal(found["trained"], model.decision_scores_)


def test_loaded_models_can_be_fitted_again():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = GESSVDD(kernel="linear", laplacian="knn(n_neighbors=4)", random_state=0).fit(X)
    loaded = pickle.loads(pickle.dumps(model))
    assert repr(loaded) == repr(model)
    assert_array_equal(loaded.fit(X[:40]).decision_scores_, model.fit(X[:40]).decision_scores_)


def test_unfitted_models_stay_unfitted():
    model = pickle.loads(pickle.dumps(GESSVDD(nu=0.3)))
    assert model.nu == 0.3
    with pytest.raises(Exception, match="not fitted"):
        check_is_fitted(model)


def test_pyods_metadata_names_the_class(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = GESSVDD(kernel="linear", random_state=0).fit(X)
    persistence.save(model, str(tmp_path / "model"), metadata={"plugins": model.plugins_})
    _, metadata = persistence.load(str(tmp_path / "model"), trusted=True, return_metadata=True)
    assert metadata["model_class"] == "pyod_gessvdd.detectors.gessvdd.GESSVDD"


# Size -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("laplacian", ["none", "identity", "pca", "within", "between", "knn"])
def test_pickle_of_a_linear_model_grows_by_a_few_numbers_per_row(laplacian):
    X = np.random.default_rng(0).normal(size=(1500, 5))
    detector = GESSVDD(kernel="linear", n_components=2, laplacian=laplacian, random_state=0)
    small, large = (len(pickle.dumps(detector.fit(X[:n]))) for n in (500, 1500))
    # alpha_, decision_scores_, leverage_ and labels_ are 32 bytes per row, the support a few more; not even X is kept.
    assert large - small < 48 * 1000
    assert small < 48 * 500 + 20_000


def test_pickle_of_an_rbf_model_holds_its_map_and_no_kernel_matrix():
    X = np.random.default_rng(0).normal(size=(300, 5))
    model = GESSVDD(kernel="rbf(gamma=0.01)", n_components=3, laplacian="pca", random_state=0).fit(X)
    n_features = model.kernel_.map_.shape[1]
    assert n_features < 100
    assert len(pickle.dumps(model)) < 8 * 300 * (5 + n_features + 5) + 20_000


# What is missing ------------------------------------------------------------------------------------------------------

THEIR_MODULE = '''
    """Components, a kernel function and a thresholder of somebody else."""

    import numpy as np
    from sklearn.metrics.pairwise import rbf_kernel
    from pyod_gessvdd import Kernel, Laplacian, PairwiseKernel, QPBackend, Updater, hookimpl
    from pyod_gessvdd.qp.frank_wolfe import FrankWolfe


    class Ring(Laplacian):
        """Each row linked with the next one."""

        def build(self, Phi, random_state):
            step = np.roll(np.eye(len(Phi)), 1, axis=0)
            return 2 * np.eye(len(Phi)) - step - step.T


    class Still(Updater):
        def update(self, state):
            return state.Q


    class Borrowed(QPBackend):
        def solve(self, dual, warm_start=None):
            return FrankWolfe().solve(dual)


    class Doubled(Kernel):
        def features(self, X):
            return np.hstack([X, X**2])


    def wide(X, Y):
        return rbf_kernel(X, Y, gamma=0.01)


    class Cut:
        def fit(self, scores):
            self.thresh_ = float(np.quantile(scores, 0.8))
            self.labels_ = self.predict(scores)

        def predict(self, scores):
            return (scores > self.thresh_).astype(int)


    class Registered(Ring):
        name = "their_ring"


    class RegisteredKernel(Doubled):
        name = "doubled"


    @hookimpl
    def register_laplacians(register):
        register(Registered)


    @hookimpl
    def register_kernels(register):
        register(RegisteredKernel)
'''

SAVE_THEIRS = """
    import pathlib, pickle, sys
    import numpy as np
    import their_graphs as theirs
    from pyod_gessvdd import GESSVDD
    from pyod_gessvdd.laplacians.pca import PCA
    from pyod_gessvdd.laplacians.weighted_sum import WeightedSum

    cases = {
        "laplacian": {"laplacian": theirs.Ring()},
        "sum": {"laplacian": WeightedSum([PCA(), theirs.Ring()])},
        "updater": {"updater": theirs.Still()},
        "qp_backend": {"qp_backend": theirs.Borrowed()},
        "kernel": {"kernel": theirs.Doubled()},
        "function": {"kernel": theirs.wide},
        "contamination": {"contamination": theirs.Cut()},
        "named laplacian": {"laplacian": "their_ring"},
        "named in a sum": {"laplacian": "0.5*pca + 0.5*their_ring"},
        "named kernel": {"kernel": "doubled"},
    }
    home = pathlib.Path(sys.argv[1])
    X = np.random.default_rng(0).normal(size=(40, 3))
    np.save(home / "X.npy", X)
    for name, params in cases.items():
        model = GESSVDD(random_state=0, **{"kernel": "linear", "laplacian": "pca", **params})
        (home / f"{name}.unfitted").write_bytes(pickle.dumps(model))
        model.fit(X)
        (home / f"{name}.fitted").write_bytes(pickle.dumps(model))
        np.save(home / f"{name}.npy", model.decision_function(X))
"""

LOAD_THEIRS = """
    import json, pathlib, pickle, sys
    import numpy as np
    from pyod_gessvdd.errors import MissingPluginError, UnknownComponentError

    home = pathlib.Path(sys.argv[1])
    X = np.load(home / "X.npy")
    outcome = {}
    for file in sorted(home.glob("*fitted")):
        try:
            model = pickle.loads(file.read_bytes())
            scores = (model if file.suffix == ".fitted" else model.fit(X)).decision_function(X)
            outcome[file.name] = bool(np.array_equal(scores, np.load(file.with_suffix(".npy"))))
        except (MissingPluginError, UnknownComponentError) as error:
            outcome[file.name] = f"{type(error).__name__}: {error}"
    print(json.dumps(outcome))
"""

INSTANCES = {
    "laplacian": "their_graphs.Ring as its laplacian",
    "sum": "their_graphs.Ring as its laplacian",
    "updater": "their_graphs.Still as its updater",
    "qp_backend": "their_graphs.Borrowed as its qp_backend",
    "kernel": "their_graphs.Doubled as its kernel",
    "function": "their_graphs.wide as its kernel",
    "contamination": "their_graphs.Cut as its contamination",
}
NAMED = {
    "named laplacian": "laplacian 'their_ring' of their-graphs 1.2.3",
    "named in a sum": "laplacian 'their_ring' of their-graphs 1.2.3",
    "named kernel": "kernel 'doubled' of their-graphs 1.2.3",
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """What loading says, with the other package on the path and without."""
    site, home = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("saved")
    (site / "their_graphs.py").write_text(textwrap.dedent(THEIR_MODULE), encoding="utf-8")
    info = site / "their_graphs-1.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-graphs\nVersion: 1.2.3\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[pyod_gessvdd]\ntheirs = their_graphs\n", encoding="utf-8")
    python(SAVE_THEIRS, home, path=site)
    with ThreadPoolExecutor() as pool:
        loaded = {
            name: pool.submit(python, LOAD_THEIRS, home, path=path)
            for name, path in (("with", site), ("without", None))
        }
        return {name: json.loads(run.result()) for name, run in loaded.items()}


def test_models_with_foreign_components_score_the_same_where_the_package_is(theirs):
    expected = {f"{name}.{state}" for name in (INSTANCES | NAMED) for state in ("fitted", "unfitted")}
    assert theirs["with"] == dict.fromkeys(sorted(expected), True)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("state", ["fitted", "unfitted"])
def test_model_says_which_foreign_object_it_misses(name, state, theirs):
    said = theirs["without"][f"{name}.{state}"]
    assert said.startswith(f"MissingPluginError: this model uses {INSTANCES[name]}, which cannot be imported here")
    assert "No module named 'their_graphs'" in said


@pytest.mark.parametrize("name", NAMED)
def test_model_says_which_plugin_it_misses(name, theirs):
    said = theirs["without"][f"{name}.fitted"]
    assert said.startswith(f"MissingPluginError: this model was fitted with the {NAMED[name]}")
    assert "not installed here; install it to load the model" in said


@pytest.mark.parametrize("name", NAMED)
def test_unfitted_model_with_a_plugins_name_loads_and_says_at_fit_that_it_is_unknown(name, theirs):
    assert theirs["without"][f"{name}.unfitted"].startswith("UnknownComponentError: unknown ")


def test_missing_plugin_is_an_import_error():
    assert issubclass(MissingPluginError, ImportError)
