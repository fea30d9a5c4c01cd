"""GESSVDD inside PyOD's ADEngine, through PyOD's public doors only."""

import copy
import doctest
import json

import numpy as np
import pytest
from pyod.utils.ad_engine import ADEngine

from pyod_gessvdd import GESSVDD
from pyod_gessvdd.detectors import pyod_bridge

FILES = ("algorithms", "benchmarks", "routing_rules", "papers")


@pytest.fixture
def X():
    random = np.random.default_rng(0)
    return np.vstack([random.normal(size=(95, 4)), random.uniform(4, 8, size=(5, 4))])


def knowledge(engine):
    return {name: copy.deepcopy(getattr(engine.kb, name)) for name in FILES}


def planned(plan):
    return [plan["detector_name"], *(other["detector_name"] for other in plan["alternatives"])]


def test_entry_has_exactly_the_keys_of_pyods_own():
    engine = ADEngine()
    for name, entry in engine.kb.algorithms.items():
        assert set(pyod_bridge.ALGORITHM) == set(entry), name


def test_entry_claims_no_benchmark_rank():
    assert pyod_bridge.ALGORITHM["benchmark_rank"] == {}
    assert pyod_bridge.ALGORITHM["benchmark_refs"] == []


def test_entry_uses_pyods_vocabulary():
    entries = ADEngine().kb.algorithms.values()
    assert pyod_bridge.ALGORITHM["category"] in {entry["category"] for entry in entries}
    assert pyod_bridge.ALGORITHM["preprocessing_mode"] in {entry["preprocessing_mode"] for entry in entries}


def test_entrys_class_path_is_the_public_class():
    detector = pyod_bridge.engine().build_detector({"detector_name": "GESSVDD", "params": {}})
    assert type(detector) is GESSVDD


def test_register_returns_the_same_engine():
    engine = ADEngine()
    assert pyod_bridge.register(engine) is engine


def test_registering_twice_changes_nothing():
    engine = pyod_bridge.register(ADEngine())
    once = knowledge(engine)
    pyod_bridge.register(engine)
    assert knowledge(engine) == once


def test_registering_keeps_everything_that_was_there():
    bundled, registered = knowledge(ADEngine()), knowledge(pyod_bridge.engine())
    assert {name: registered["algorithms"][name] for name in bundled["algorithms"]} == bundled["algorithms"]
    assert {name: registered["papers"][name] for name in bundled["papers"]} == bundled["papers"]
    assert registered["routing_rules"]["rules"][:-1] == bundled["routing_rules"]["rules"]
    assert registered["benchmarks"] == bundled["benchmarks"]


def test_other_engines_do_not_learn_of_it():
    engine = pyod_bridge.engine()
    engine.kb.algorithms["GESSVDD"]["strengths"].append("edited by the engine's owner")
    assert "GESSVDD" not in ADEngine().kb.algorithms
    assert "edited by the engine's owner" not in pyod_bridge.engine().kb.algorithms["GESSVDD"]["strengths"]


def test_register_refuses_what_is_no_engine():
    with pytest.raises(TypeError, match=r"needs an ADEngine.*got 'engine'"):
        pyod_bridge.register("engine")


def test_register_does_not_replace_another_gessvdd():
    engine = ADEngine()
    engine.kb.algorithms["GESSVDD"] = {"class_path": "pyod.models.gessvdd.GESSVDD"}
    with pytest.raises(ValueError, match=r"already has a GESSVDD, pyod\.models\.gessvdd\.GESSVDD"):
        pyod_bridge.register(engine)
    assert engine.kb.algorithms["GESSVDD"] == {"class_path": "pyod.models.gessvdd.GESSVDD"}


def test_engine_takes_adengines_arguments():
    assert pyod_bridge.engine(random_state=7).random_state == 7


def test_engine_runs_a_chosen_plan_on_new_data(X):
    engine = pyod_bridge.engine(random_state=0)
    result = engine.run_detection(X, engine.make_plan(["GESSVDD", "OCSVM"]), X_test=X[:7])
    detector = result["detector"]
    assert type(detector) is GESSVDD
    np.testing.assert_array_equal(result["scores_train"], detector.decision_scores_)
    np.testing.assert_array_equal(result["scores_test"], detector.decision_function(X[:7]))
    np.testing.assert_array_equal(result["labels_test"], detector.predict(X[:7]))


def test_engine_hands_its_seed_and_its_contamination_to_the_detector():
    engine = pyod_bridge.engine(random_state=7)
    detector = engine.build_detector(engine.make_plan(["GESSVDD"]))
    assert detector.random_state == 7
    assert detector.contamination == pyod_bridge.ALGORITHM["default_params"]["contamination"]


def test_engine_hands_a_plans_parameters_to_the_detector():
    engine = pyod_bridge.engine()
    plan = engine.make_plan(["GESSVDD"], params=[{"laplacian": "knn(n_neighbors=7)", "contamination": 0.2}])
    detector = engine.build_detector(plan)
    assert (detector.laplacian, detector.contamination) == ("knn(n_neighbors=7)", 0.2)


def test_rule_makes_it_an_alternative_and_never_the_first_choice(X):
    engine = pyod_bridge.engine()
    for rows in (X, np.hstack([X] * 30), np.vstack([X] * 60)):
        for priority in ("speed", "accuracy", "balanced"):
            profile = engine.profile_data(rows)
            without = planned(ADEngine().plan_detection(profile, priority, top_k=50))
            assert planned(engine.plan_detection(profile, priority, top_k=50)) == [*without, "GESSVDD"]


def test_rule_leaves_incomplete_and_other_data_alone(X):
    engine = pyod_bridge.engine()
    incomplete = X.copy()
    incomplete[0, 0] = np.nan
    for profile in (
        engine.profile_data(incomplete),
        engine.profile_data(X[:49]),
        engine.profile_data(X, data_type="time_series"),
    ):
        assert "GESSVDD" not in planned(engine.plan_detection(profile, top_k=50))


def test_engine_explains_it_and_lists_it_for_routing(X):
    engine = pyod_bridge.engine()
    assert engine.explain_detector("GESSVDD")["paper"]["short"] == "Sohrab et al., 2023"
    routing = engine.get_kb_for_routing(engine.profile_data(X))
    (row,) = [row for row in routing["available_detectors"] if row["name"] == "GESSVDD"]
    assert row["resolved_rank"] is None
    assert row["strengths"] == pyod_bridge.ALGORITHM["strengths"]


def test_paper_of_the_entry_is_among_the_papers():
    papers = pyod_bridge.engine().kb.papers
    paper = papers[pyod_bridge.ALGORITHM["paper"]["id"]]
    assert paper["title"] == "Graph-Embedded Subspace Support Vector Data Description"


def test_investigation_can_include_it(X):
    engine = pyod_bridge.engine(random_state=0)
    state = engine.start(X)
    state = engine.plan(state, constraints={"max_detectors": 1})
    state = engine.analyze(engine.run(state))
    state = engine.iterate(state, {"action": "include", "detectors": ["GESSVDD"]})
    state = engine.analyze(engine.run(state))
    by_name = {result["detector_name"]: result for result in state.results}
    assert by_name["GESSVDD"]["status"] == "success"
    assert len(by_name["GESSVDD"]["scores_train"]) == len(X)


def test_knowledge_dir_gives_an_engine_the_same_knowledge(tmp_path):
    engine = ADEngine(knowledge_dir=pyod_bridge.knowledge_dir(tmp_path / "new" / "directory"))
    assert knowledge(engine) == knowledge(pyod_bridge.engine())


def test_knowledge_dir_writes_the_four_files_and_can_be_written_again(tmp_path):
    path = pyod_bridge.knowledge_dir(tmp_path)
    first = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert set(first) == {f"{name}.json" for name in FILES}
    assert pyod_bridge.knowledge_dir(path) == path
    assert {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()} == first


def test_knowledge_dir_runs_a_plan(tmp_path, X):
    engine = ADEngine(knowledge_dir=pyod_bridge.knowledge_dir(tmp_path), random_state=0)
    result = engine.run_detection(X, engine.make_plan(["GESSVDD"]))
    assert type(result["detector"]) is GESSVDD


def test_rule_has_the_keys_and_operators_that_pyod_reads():
    rules = ADEngine().kb.routing_rules["rules"]
    assert set(pyod_bridge.RULE) == set(rules[0])
    fields = {condition["field"] for rule in rules for condition in rule["conditions"]}
    own = {condition["field"] for condition in pyod_bridge.RULE["conditions"]}
    assert own <= fields | set(ADEngine().profile_data(np.zeros((2, 2))))


def test_entries_survive_json():
    for value in (pyod_bridge.ALGORITHM, pyod_bridge.RULE, pyod_bridge.PAPER):
        assert json.loads(json.dumps(value)) == value


def test_examples_in_the_docstrings_run():
    results = doctest.testmod(pyod_bridge)
    assert results.attempted > 0
    assert results.failed == 0
