"""Where the published implementation of GESSVDD departs from its paper, as components that explain its figures."""

from __future__ import annotations

from pyod_gessvdd_authors.graphs import AuthorsBetween, AuthorsKNN
from pyod_gessvdd_authors.kernel import AuthorsRBF
from pyod_gessvdd_authors.updaters import AuthorsSpectral, AuthorsSpectralRegression

__all__ = ["AuthorsBetween", "AuthorsKNN", "AuthorsRBF", "AuthorsSpectral", "AuthorsSpectralRegression"]
