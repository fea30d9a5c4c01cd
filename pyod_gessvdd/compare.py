"""Comparing detectors: ``compare(datasets, detectors, …)`` runs, stores and ranks; ``ComparisonResult`` draws."""

from __future__ import annotations

from pyod_gessvdd.experiments.comparison import Progress, compare
from pyod_gessvdd.experiments.result import ComparisonResult

__all__ = ["ComparisonResult", "Progress", "compare"]
