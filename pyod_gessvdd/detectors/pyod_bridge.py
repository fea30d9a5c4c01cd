"""GESSVDD inside PyOD's ADEngine: its knowledge-base entry, its routing rule and its paper.

PyOD has no way to register a third-party detector, but its engine builds any class that its knowledge base names. Each
engine has its own public knowledge base, so an entry there is all it takes: :func:`register` adds it to one engine in
memory, :func:`knowledge_dir` writes it to files for ``ADEngine(knowledge_dir=...)``.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

from pyod.utils.ad_engine import ADEngine

#: The detector's name in plans.
NAME = "GESSVDD"

#: All the keys that PyOD's own entries have. None of PyOD's benchmarks ranks GESSVDD, so it claims no rank.
ALGORITHM: dict[str, Any] = {
    "class_path": "pyod_gessvdd.GESSVDD",
    "full_name": "Graph-Embedded Subspace Support Vector Data Description",
    "status": "shipped",
    "data_types": ["tabular"],
    "category": "linear",
    "complexity": {
        "time": "O(n^3) up to 2,000 rows, O(n * m^2) with m landmarks above; linear kernel O(n * d^2)",
        "space": "O(n^2) up to 2,000 rows, O(n * m) above; linear kernel O(n * d)",
    },
    "strengths": [
        "Hardly learns from the training rows that look like outliers; novelty=True declares that there are none",
        "Training rows are scored as if left out, so that the threshold holds for new rows",
        "A sphere with a certified optimum: threshold='radius' lets it decide, for training on clean data",
        "Graphs, update rules, kernels and QP solvers are exchangeable, also by plugins",
    ],
    "weaknesses": [
        "Outliers beyond the share contamination are learnt from",
        "Finds a deviation in one of hundreds of columns less well than nearest neighbours do",
        "Numerical features only, no missing values",
    ],
    "best_for": "Tables of small or medium size, with or without outliers among the training rows",
    "avoid_when": "Rows arrive as a stream, or columns are text, categories or dates",
    "benchmark_refs": [],
    "benchmark_rank": {},
    "paper": {"id": "gessvdd", "short": "Sohrab et al., 2023"},
    "default_params": {"contamination": 0.1},
    "preprocessing_mode": "external",
    "requires": [],
    "version_added": "0.1.0",
}

#: Less confident than every PyOD rule with a benchmark behind it: an alternative, never the first choice.
RULE: dict[str, Any] = {
    "id": "tabular_gessvdd",
    "conditions": [
        {"field": "data_type", "op": "eq", "value": "tabular"},
        {"field": "has_nan", "op": "eq", "value": False},
        {"field": "n_samples", "op": "gte", "value": 50},
    ],
    "recommendations": [{"detector": NAME, "params": {}, "confidence": 0.5}],
    "reason": "Complete tabular data: a subspace SVDD as an alternative, not ranked by a benchmark yet",
    "evidence": [],
}

PAPER = {
    "title": "Graph-Embedded Subspace Support Vector Data Description",
    "authors": "Sohrab, Iosifidis, Gabbouj, Raitoharju",
    "venue": "Pattern Recognition 2023",
    "url": "https://arxiv.org/abs/2104.14370",
}


def register(engine: ADEngine) -> ADEngine:
    """Add GESSVDD to one engine: to its plans, comparisons and explanations.

    Parameters
    ----------
    engine : pyod.utils.ad_engine.ADEngine
        The engine; other engines and PyOD's own files do not change.

    Returns
    -------
    ADEngine
        The same engine. Registering it again changes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from pyod.utils.ad_engine import ADEngine
    >>> from pyod_gessvdd.detectors.pyod_bridge import register
    >>> engine = register(ADEngine(random_state=0))
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> result = engine.run_detection(X, engine.make_plan(["GESSVDD"]))
    >>> result["plan"]["detector_name"], len(result["scores_train"])
    ('GESSVDD', 100)
    """
    if not isinstance(engine, ADEngine):
        raise TypeError(f"register needs an ADEngine of pyod.utils.ad_engine, got {engine!r}")
    known = engine.kb.algorithms.get(NAME)
    if known is not None and known.get("class_path") != ALGORITHM["class_path"]:
        raise ValueError(f"the engine already has a {NAME}, {known.get('class_path')}; it would be replaced")
    # Copies: an engine's knowledge base is its own, and its owner may edit it.
    engine.kb.algorithms[NAME] = copy.deepcopy(ALGORITHM)
    engine.kb.papers[ALGORITHM["paper"]["id"]] = copy.deepcopy(PAPER)
    rules = engine.kb.routing_rules["rules"]
    if not any(rule.get("id") == RULE["id"] for rule in rules):
        rules.append(copy.deepcopy(RULE))
    return engine


def engine(**kwargs: Any) -> ADEngine:
    """A new ADEngine that knows GESSVDD.

    Parameters
    ----------
    **kwargs
        Arguments of ADEngine, for example ``random_state``.

    Examples
    --------
    >>> from pyod_gessvdd.detectors import pyod_bridge
    >>> pyod_bridge.engine(random_state=0).explain_detector("GESSVDD")["full_name"]
    'Graph-Embedded Subspace Support Vector Data Description'
    """
    return register(ADEngine(**kwargs))


def knowledge_dir(path: str | os.PathLike[str]) -> str:
    """Write PyOD's knowledge base with GESSVDD in it, for ``ADEngine(knowledge_dir=...)``.

    Parameters
    ----------
    path : path-like
        The directory; it is created if it does not exist, and its four JSON files are overwritten.

    Returns
    -------
    str
        The directory.

    Examples
    --------
    >>> import tempfile
    >>> from pyod.utils.ad_engine import ADEngine
    >>> from pyod_gessvdd.detectors.pyod_bridge import knowledge_dir
    >>> with tempfile.TemporaryDirectory() as path:
    ...     engine = ADEngine(knowledge_dir=knowledge_dir(path))
    ...     plan = engine.make_plan(["GESSVDD", "OCSVM"])
    >>> plan["detector_name"], [other["detector_name"] for other in plan["alternatives"]]
    ('GESSVDD', ['OCSVM'])
    """
    directory = Path(path)
    directory.mkdir(parents=True, exist_ok=True)
    kb = engine().kb
    for name in ("algorithms", "benchmarks", "routing_rules", "papers"):
        text = json.dumps(getattr(kb, name), indent=2, ensure_ascii=False)
        (directory / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return str(directory)
