"""How a fitted detector is displayed in a notebook: scikit-learn's HTML of its parameters, and what it has learnt."""

from __future__ import annotations

from html import escape
from typing import Any

from sklearn.base import BaseEstimator


class Shown(BaseEstimator):
    """Adds the facts of a fit to scikit-learn's HTML."""

    def _facts(self) -> dict[str, str]:
        """What was learnt, by name; nothing before ``fit``."""
        if not hasattr(self, "decision_scores_"):
            return {}
        scores, labels, history = self.decision_scores_, self.labels_, self.history_
        facts = {"rows": f"{len(scores):,}"}
        if hasattr(self, "trusted_"):
            facts["trusted rows"] = f"{int(self.trusted_.sum()):,}"
        for name, attribute in (("dimension", "n_components_"), ("updates", "n_iter_")):
            if hasattr(self, attribute):
                facts[name] = f"{getattr(self, attribute):,}"
        if hasattr(self, "radius_"):
            facts["radius"] = f"{self.radius_:.4g}"
        facts["duality gap"] = f"{history[-1]['gap']:.1e}"
        facts["threshold"] = f"{self.threshold_:.4g}"
        facts["outliers"] = f"{int(labels.sum()):,}"
        return facts

    def _facts_html(self) -> str:
        facts = self._facts()
        if not facts:
            return ""
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
        # The colours of the notebook, light or dark.
        style = "font-size:small;margin:.5em 0 0;text-align:left"
        return f'<details open><summary>Fitted</summary><table style="{style}">{cells}</table></details>'

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._facts_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = dict(super()._repr_mimebundle_(**kwargs))
        if "text/html" in shown:
            shown["text/html"] += self._facts_html()
        return shown
