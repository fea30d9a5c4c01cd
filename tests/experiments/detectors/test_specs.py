"""From what a user writes to a detector."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyod.models.knn import KNN

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.detectors.variants import VARIANTS
from pyod_gessvdd.errors import ComparisonError
from pyod_gessvdd.experiments.detectors.catalogue import DEFAULT, FAMILY, FAST, GROUPS, class_paths
from pyod_gessvdd.experiments.detectors.specs import resolve_detectors, split_specs

BAD = "tests.experiments.bad_detectors"


def only(spec):
    (detector,) = resolve_detectors(spec)
    return detector


@pytest.mark.parametrize("written", ["iforest", "IForest", "IFOREST", "i-forest"])
def test_pyods_names_are_found_whatever_their_case(written):
    assert only(written).name == "IForest"
    assert type(only(written).build()).__name__ == "IForest"


def test_parameters_reach_the_detector_and_its_label():
    detector = only("iforest( n_estimators=20, max_features = 0.5 )")
    assert detector.name == "IForest(n_estimators=20, max_features=0.5)"
    assert detector.build().n_estimators == 20


def test_a_variant_of_the_paper_is_built_as_the_paper_defines_it():
    detector = only("gessvdd:knn-gr-MIN(C=0.2)")
    assert detector.name == "GESSVDD:kNN-GR-min(C=0.2)"
    assert detector.build(seed=3).get_params() == GESSVDD.from_variant("kNN-GR-min", C=0.2, random_state=3).get_params()


def test_a_component_is_given_as_a_parameter():
    assert only("gessvdd(laplacian='0.5*knn + 0.5*pca')").build().laplacian == "0.5*knn + 0.5*pca"


def test_the_members_of_the_family_are_there():
    for name in FAMILY:
        assert type(only(name.lower()).build()).__name__ == name


def test_a_class_is_named_by_its_module():
    detector = only(f"{BAD}:Good(pause=0.5)")
    assert (detector.name, detector.build().pause) == ("Good(pause=0.5)", 0.5)


def test_classes_of_the_same_name_are_shown_with_their_modules(tmp_path, monkeypatch):
    (tmp_path / "other_detectors.py").write_text(f"from {BAD} import Good as Base\nclass Good(Base): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    names = [detector.name for detector in resolve_detectors([f"{BAD}:Good", "other_detectors:Good"])]
    assert names == [f"{BAD}:Good", "other_detectors:Good"]


def test_the_seed_goes_to_those_that_take_one_and_were_not_given_one():
    assert only("iforest").build(seed=7).random_state == 7
    assert only("iforest(random_state=1)").build(seed=7).random_state == 1
    assert not hasattr(only("knn").build(seed=7), "random_state")


def test_the_same_detector_written_twice_is_taken_once():
    found = resolve_detectors(["knn,KNN", "pyod.models.knn:KNN", "knn(n_neighbors=5)", "knn( n_neighbors = 5 )"])
    assert [detector.name for detector in found] == ["KNN", "KNN(n_neighbors=5)"]


def test_groups_stand_for_their_members():
    assert [detector.name for detector in resolve_detectors("fast")] == list(FAST)
    assert [detector.name for detector in resolve_detectors("Family")] == list(FAMILY)
    assert [detector.name for detector in resolve_detectors("variants")] == [f"GESSVDD:{name}" for name in VARIANTS]


def test_all_pyod_is_what_can_be_built_here_without_torch():
    names = {detector.name for detector in resolve_detectors("all-pyod")}
    assert {"KNN", "OCSVM", "IForest", "ECOD", "KPCA", "LOF", "COPOD"} <= names
    # Torch, labels, one column only, a parameter without a default.
    assert not names & {"AutoEncoder", "DeepSVDD", "DIF", "XGBOD", "DevNet", "MAD", "LSCP", *FAMILY}


def test_the_default_and_the_groups_do_not_clash_with_names():
    # A class, or one with some of its parameters.
    assert {name.partition("(")[0] for name in DEFAULT} <= set(class_paths())
    assert not {name.replace("-", "") for name in GROUPS} & {name.casefold() for name in class_paths()}


def test_a_detector_travels_to_another_process():
    detector = pickle.loads(pickle.dumps(only("knn(n_neighbors=7)")))
    assert detector.build().n_neighbors == 7


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b", ["a", "b"]),
        ("a(x=1,y=[2,3]), b", ["a(x=1,y=[2,3])", "b"]),
        ("a(x='1,2)'),b", ["a(x='1,2)')", "b"]),
        (" a ,, b,", ["a", "b"]),
        ("gessvdd(laplacian='knn(n_neighbors=7)'),svdd", ["gessvdd(laplacian='knn(n_neighbors=7)')", "svdd"]),
    ],
)
def test_commas_inside_brackets_and_quotes_do_not_separate(text, parts):
    assert split_specs(text) == parts


@given(st.lists(st.sampled_from(["knn", "a(b=1, c=(2, 3))", "x:Y(z='p,q(')", 'm(n="]")'])))
def test_what_was_joined_by_commas_is_split_again(specs):
    assert split_specs(",".join(specs)) == specs


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("knnn", r"unknown detector 'knnn'; did you mean KNN\?"),
        ("familly", r"unknown detector 'familly'; did you mean family\?"),
        ("xyzzy", "unknown detector 'xyzzy'; the names known are GESSVDD, "),
        ("knn(k=3)", "detector 'knn' has no parameter 'k'; it takes contamination, n_neighbors, "),
        ("knn(3)", r"cannot read the detector 'knn\(3\)'; write knn\(parameter=value, …\)"),
        ("knn(p=1", r"cannot read the detector 'knn\(p=1'; write knn\(parameter=value, …\)"),
        ("knn(p=1)(2)", "cannot read the detector"),
        ("knn(p=x)", r"p in 'knn\(p=x\)' must be a number, a string or another literal, got 'x'"),
        ("knn(**x)", r"cannot read '\*\*x' in the detector"),
        (
            "knn(contamination=7)",
            r"cannot build knn\(contamination=7\): ValueError: contamination must be in \(0, 0.5\]",
        ),
        (f"{BAD}:CannotBeBuilt", "cannot build .*: ValueError: size must be odd, got 1$"),
        ("lscp", "cannot build lscp: TypeError: .* missing 1 required positional argument: 'detector_list'"),
        ("gessvdd(laplacian='ham')", "cannot build gessvdd.laplacian='ham'.: unknown laplacian 'ham'"),
        ("gessvdd:kNN-XX-min", "unknown variant 'kNN-XX-min'; a variant is GRAPH-UPDATER-DIRECTION"),
        ("no_such_package:Thing", "Thing cannot be imported from no_such_package: No module named 'no_such_package'"),
        (":X", "':X' names no class; write package.module:Class"),
        ("../evil:Ok", r"'\.\./evil:Ok' names no class; write package.module:Class"),
        (
            "tests.experiments.raises:X",
            "module tests.experiments.raises cannot be imported: RuntimeError: not today",
        ),
        ("tests.experiments.exits:X", "the module tests.experiments.exits cannot be imported: SystemExit: 3"),
        ("pyod.models.knn:Thing", r"the module pyod\.models\.knn has no 'Thing'"),
        (f"{BAD}:NoDetector", "NoDetector is not a detector: it has no fit, decision_function, predict"),
        (
            "sklearn.svm:OneClassSVM",
            "scores as scikit-learn's detectors do, high for normal rows; .* wrap it in a pyod",
        ),
        ("", "no detector is given"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_sentence(spec, sentence):
    with pytest.raises(ComparisonError, match=sentence) as caught:
        resolve_detectors(spec)
    assert "\n" not in str(caught.value)


def test_a_detector_must_be_an_instance_or_text():
    with pytest.raises(ComparisonError, match=r"a detector is an instance such as .* or text such as .*, got 3"):
        resolve_detectors([3])


def test_a_detector_whose_package_is_missing_names_it_and_prints_nothing():
    code = (
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ModuleNotFoundError('No module named torch')\n"
        "sys.meta_path.insert(0, Blocker())\n"
        "from pyod_gessvdd.experiments.detectors.specs import resolve_detectors\n"
        "try: resolve_detectors('autoencoder')\n"
        "except ValueError as error: sys.stderr.write(str(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "AutoEncoder cannot be imported from pyod.models.auto_encoder: " in done.stderr
    assert "torch" in done.stderr


def test_finding_names_imports_no_detector():
    code = (
        "import sys; from pyod_gessvdd.experiments.detectors.catalogue import find; find('iforest'); "
        "print('pyod.models.iforest' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


# Instances ------------------------------------------------------------------------------------------------------------


def test_an_instance_stands_for_its_class_and_what_is_not_a_default():
    instance = KNN(n_neighbors=3, contamination=0.2)
    (detector,) = resolve_detectors(instance)
    assert detector.name == "KNN(contamination=0.2, n_neighbors=3)"
    assert detector.path == "pyod.models.knn:KNN"
    assert detector.build(contamination=0.5).get_params() == instance.get_params()


def test_an_instance_without_a_seed_of_its_own_gets_the_jobs():
    seeded, open_ = resolve_detectors([GESSVDD(random_state=7), GESSVDD()])
    assert (seeded.build(3).random_state, open_.build(3).random_state) == (7, 3)


def test_a_class_that_other_processes_cannot_import_is_refused(monkeypatch):
    class Mine(KNN):
        pass

    monkeypatch.setattr(Mine, "__module__", "__main__")
    with pytest.raises(
        ComparisonError, match=r"Mine is defined in the script or notebook itself, .* put it into a separate module"
    ):
        resolve_detectors(Mine())
