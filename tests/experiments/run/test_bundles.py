"""Jobs that share work: one process runs them, one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyod_gessvdd.experiments.detectors.specs import Detector
from pyod_gessvdd.experiments.run.runner import _bundles, run_jobs
from tests.experiments import toy


@dataclass(frozen=True)
class Sharing(Detector):
    """A detector whose jobs belong together."""

    @property
    def bundle(self) -> str:
        """All of one class."""
        return self.path


def sharing(job, name):
    """The job with a detector that shares."""
    detector = job.detector
    return replace(job, detector=Sharing(name, detector.spec, detector.path, detector.parameters))


def test_jobs_of_one_bundle_data_set_and_seed_stay_together_and_others_are_alone():
    alone, shared = toy.job("knn"), toy.job("hbos")
    jobs = [alone, alone, sharing(shared, "a"), sharing(shared, "b"), sharing(replace(shared, seed=1), "a"), alone]
    assert [len(bundle) for bundle in _bundles(jobs)] == [1, 1, 2, 1, 1]
    assert [job for bundle in _bundles(jobs) for job in bundle] == jobs


def test_every_job_of_a_bundle_has_its_own_result():
    jobs = [sharing(toy.job("hbos"), name) for name in ("a", "b", "c")]
    results = list(run_jobs(jobs))
    assert [result.row["detector"] for result in results] == ["a", "b", "c"]
    assert {result.row["status"] for result in results} == {"done"}
