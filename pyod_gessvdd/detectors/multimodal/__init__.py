"""Multimodal subspace SVDD: several groups of columns, one projection each, one sphere around all of them."""

from __future__ import annotations

from pyod_gessvdd.detectors.multimodal.detector import MSSVDD

__all__ = ["MSSVDD"]
