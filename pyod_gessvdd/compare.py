"""Comparing detectors: ``compare(datasets, detectors, …)`` runs, stores and ranks; ``ComparisonResult`` draws.

``Metric``, ``Protocol`` and ``Split`` are what plugins bring their own of.
"""

from __future__ import annotations

from pyod_gessvdd.experiments.comparison import compare
from pyod_gessvdd.experiments.experiment import Progress
from pyod_gessvdd.experiments.metrics import Metric
from pyod_gessvdd.experiments.protocols.protocol import Protocol, Split
from pyod_gessvdd.experiments.result import ComparisonResult

__all__ = ["ComparisonResult", "Metric", "Progress", "Protocol", "Split", "compare"]
