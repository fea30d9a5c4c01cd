"""Detectors that misbehave, each in its own way; jobs find them as ``tests.experiments.bad_detectors:Name``."""

from __future__ import annotations

import os
import time
import warnings

import numpy as np
from pyod.models.base import BaseDetector


class Good(BaseDetector):
    """Scores a row by its distance from the mean; the others differ in one method."""

    def __init__(self, contamination=0.1, pause=0.0):
        super().__init__(contamination=contamination)
        self.pause = pause

    def fit(self, X, y=None):
        time.sleep(self.pause)
        self.mean_ = X.mean(axis=0)
        self.decision_scores_ = self.decision_function(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X):
        return np.linalg.norm(X - self.mean_, axis=1)


class Raises(Good):
    def fit(self, X, y=None):
        raise RuntimeError("no fit\ntoday")


class ReturnsNaN(Good):
    def decision_function(self, X):
        scores = super().decision_function(X)
        scores[0] = np.nan
        return scores


class ReturnsWrongShape(Good):
    def decision_function(self, X):
        return super().decision_function(X)[:, None]


class PredictsWrongLabels(Good):
    def predict(self, X):
        return np.full(len(X), -1)


class Dies(Good):
    """Ends its process as a crash in compiled code would."""

    def fit(self, X, y=None):
        os.abort()


class Leaves(Good):
    def fit(self, X, y=None):
        raise SystemExit(3)


class HangsInC(Good):
    """Stays in compiled code for very long: no signal handler and no other thread of its process gets a turn."""

    def fit(self, X, y=None):
        sum(range(10**12))


class Prints(Good):
    def fit(self, X, y=None):
        print("chatter on stdout")
        os.write(1, b"chatter on the file descriptor\n")
        return super().fit(X)


class Warns(Good):
    def fit(self, X, y=None):
        warnings.warn("all is\nnot well", RuntimeWarning, stacklevel=2)
        return super().fit(X)


class ChangesItsInput(Good):
    def fit(self, X, y=None):
        super().fit(X)
        X[:] = 0
        return self


class DrawsFromGlobalGenerators(Good):
    def decision_function(self, X):
        return np.random.random(len(X))  # noqa: NPY002


class TellsItsSeed(Good):
    def __init__(self, contamination=0.1, random_state=None):
        super().__init__(contamination=contamination)
        self.random_state = random_state

    def decision_function(self, X):
        return np.full(len(X), float(self.random_state))


class CannotBeBuilt(Good):
    def __init__(self, contamination=0.1, size=1):
        raise ValueError(f"size must be odd,\ngot {size}")


class NoDetector:
    """Nothing of what a detector has."""


class LeavesChildren(Good):
    """Starts processes that outlive it and hold its pipes, and ends or sleeps."""

    def __init__(self, contamination=0.1, then="sleep", mark=""):
        super().__init__(contamination=contamination)
        self.then, self.mark = then, mark

    def fit(self, X, y=None):
        for detached in (False, True):
            if os.fork() == 0:
                if detached:
                    os.setsid()
                with open(f"{self.mark}-unfinished-{int(detached)}", "w") as file:
                    file.write(str(os.getpid()))
                os.replace(file.name, f"{self.mark}-{int(detached)}")
                time.sleep(600)
                os._exit(0)
        while not all(os.path.exists(f"{self.mark}-{place}") for place in (0, 1)):
            time.sleep(0.01)
        if self.then == "exit":
            os._exit(7)
        time.sleep(600)


class RaisesHalfACharacter(Good):
    def fit(self, X, y=None):
        raise RuntimeError("half \ud800 a character")


class RaisesALongMessage(Good):
    def fit(self, X, y=None):
        raise RuntimeError("x" * 5_000_000)


class CannotSayWhatIsWrong(Good):
    class MuteError(RuntimeError):
        def __str__(self):
            raise ValueError("no words")

    def fit(self, X, y=None):
        raise self.MuteError


class WritesAndDies(Good):
    def fit(self, X, y=None):
        os.write(2, b"word " * 200_000 + b"the end")
        os._exit(5)


class ReturnsComplexScores(Good):
    def decision_function(self, X):
        return super().decision_function(X) + (0 if self.fitting else 1j)

    def fit(self, X, y=None):
        self.fitting = True
        super().fit(X)
        self.fitting = False
        return self


class AsksForTooMuch(Good):
    def fit(self, X, y=None):
        np.ones(4 * 2**30 // 8)
        return super().fit(X)
