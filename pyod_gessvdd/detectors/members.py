"""Every method of the family in one table: its paper, and a line of code; ``docs/family.md`` is made from it.

python -m pyod_gessvdd.detectors.members > docs/family.md
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from pyod_gessvdd.detectors.variants import VARIANTS


@dataclass(frozen=True)
class Method:
    """A published method.

    Attributes
    ----------
    name : str
        What its paper calls it.
    paper : str
        Who, when and where.
    code : str
        The detector, as an expression over the public names.
    note : str
        What it is, in a sentence.
    """

    name: str
    paper: str
    code: str
    note: str


#: The modalities in the lines of code below.
TWO = '{"left": [0, 1], "right": [2, 3]}'

METHODS: tuple[Method, ...] = (
    Method("SVDD", "Tax, Duin: Machine Learning 54, 2004", "SVDD()", "The smallest sphere in the kernel's space."),
    Method(
        "SVDD with negative examples",
        "Tax, Duin: Machine Learning 54, 2004",
        "SVDD(use_labels=True)",
        "Labelled outliers should be outside; `fit(X, y)`, see [labels](labels.md).",
    ),
    Method(
        "ESVDD",
        "in the GESSVDD paper",
        "ESVDD()",
        "The sphere after whitening by the scatter of the features.",
    ),
    Method(
        "GESVDD",
        "Mygdalis et al.: Pattern Recognition 60, 2016",
        'GESVDD(laplacian="knn")',
        "The sphere after whitening by the scatter of a graph.",
    ),
    Method(
        "GESVM",
        "Mygdalis et al.: Pattern Recognition 60, 2016",
        'GESVM(laplacian="knn")',
        "The same with the one-class SVM's hyperplane.",
    ),
    Method(
        "SSVDD",
        "Sohrab et al.: ICPR 2018, arXiv 1802.03989",
        "SSVDD(n_components=2, psi=2)",
        "A subspace and the sphere in it, in turns; ψ from 0 to 3.",
    ),
    Method(
        "ESSVDD",
        "Sohrab et al.: IEEE Access 8, 2020",
        "ESSVDD(n_components=2, psi=2)",
        "The same with whitening in the subspace.",
    ),
    Method(
        "GESSVDD",
        "Sohrab et al.: Pattern Recognition 133, 2023, arXiv 2104.14370",
        'GESSVDD.from_variant("kNN-GR-min", n_components=2)',
        "Whitening by a graph, three updates, two directions: 34 variants, below.",
    ),
    Method(
        "GESSVDD in the whole space",
        "this package, [description](description.md)",
        "GESSVDD()",
        "The default: nothing is discarded, and only trustworthy rows are learnt from.",
    ),
    Method(
        "GESSVDD with negative examples",
        "this package, [labels](labels.md)",
        "GESSVDD(n_components=2, use_labels=True)",
        "Labelled outliers outside the sphere in a subspace; in the whole space, rows that resemble them score higher.",
    ),
    Method(
        "NS-SVDD (Newton)",
        "Sohrab, Laakom, Gabbouj: SSCI 2023, arXiv 2309.13960",
        'GESSVDD.from_variant("0-GR-min", updater="newton_ssvdd", kernel="rbf", sigma=1.0, n_components=2)',
        "A Newton step of the criterion without its constraint; `newton` is Newton's method on the Grassmann manifold.",
    ),
    Method(
        "X-SSVDD",
        "described in later work on graph regularisation",
        'SSVDD(n_components=2, psi="knn", beta=0.01)',
        "A graph as a regulariser of the subspace, Tr(QΦᵀLΦQᵀ), instead of its metric; any Laplacian.",
    ),
    Method(
        "KG-SSVDD",
        "described in later work on graph regularisation",
        'SSVDD(kernel="linear", n_components=2, feature_laplacian="feature_knn")',
        "A graph over features, Tr(QLQᵀ): linked columns have similar weights.",
    ),
    Method(
        "MS-SVDD",
        "Sohrab et al.: Pattern Recognition 110, 2021",
        f"MSSVDD({TWO}, n_components=2, regularizer=5, beta=0.01)",
        "Groups of columns, one projection each and one sphere; ω from 0 to 6.",
    ),
    Method(
        "Graph-regularised MS-SVDD",
        "Debelle et al. 2025, arXiv 2502.15793",
        f'MSSVDD({TWO}, n_components=2, regularizer=["knn", "pca"], beta=0.001, cross_modal=True)',
        "A graph for every modality, and one that reaches across them.",
    ),
    Method(
        "MS-SVDD with composite kernels",
        "arXiv 2402.06530",
        f'MSSVDD({TWO}, n_components=2, kernel="0.5*rbf + 0.5*laplacian*sigmoid", criterion=["min", "max"])',
        "Sums and products of kernels, and a criterion for every modality.",
    ),
    Method(
        "OC-KSR",
        "Arashloo, Kittler: 2018, arXiv 1807.01085",
        "OCKSR()",
        "The kernel null-space method as the regression of a constant.",
    ),
    Method(
        "ℓp-slack SVDD, p = 2",
        "Arashloo: 2022, arXiv 2203.08932",
        "L2SVDD()",
        "Slacks count by their squares: the sphere around all rows, each with a direction of its own.",
    ),
    Method("OCSVM", "Schölkopf et al.: Neural Computation 13, 2001", "OCSVM()", "PyOD's, which is SVDD with RBF."),
)


def paper_rows() -> list[tuple[str, str, str]]:
    """The methods of the paper's tables, with a line of code for the linear and the non-linear version."""
    as_paper = 'standardize=False, threshold="radius"'
    kernels = ('kernel="linear"', 'kernel="rbf", sigma=1.0')
    rows = [("OCSVM", 'OCSVM(kernel="linear", nu=0.1)', 'OCSVM(kernel="rbf", nu=0.1)')]

    def add(name: str, method: str, first: str = "") -> None:
        linear, rbf = (f"{method}({first}{kernel}, {as_paper})" for kernel in kernels)
        rows.append((name, linear, rbf))

    add("SVDD", "SVDD")
    add("ESVDD", "ESVDD")
    for method in ("GESVDD", "GESVM"):
        for label, graph in (("PCA", "pca"), ("Sw", "within"), ("kNN", "knn")):
            add(f"{method}-{label}", method, f'laplacian="{graph}", ')
    for method in ("SSVDD", "ESSVDD"):
        for psi in range(4):
            weight = "beta=0.01, " if psi else ""
            add(f"{method} (ψ{psi})", method, f"psi={psi}, {weight}n_components=2, ")
    for variant in VARIANTS:
        linear, rbf = (
            f'GESSVDD.from_variant("{variant}", {kernel}n_components=2)' for kernel in ("", f"{kernels[1]}, ")
        )
        rows.append((f"GESSVDD-{variant}", linear, rbf))
    return rows


def tables() -> dict[str, str]:
    """The tables of the page, by the names of the comments around them."""
    methods = ["| method | paper | code | what it is |", "|---|---|---|---|"]
    methods += [f"| {row.name} | {row.paper} | `{row.code}` | {row.note} |" for row in METHODS]
    paper = ["| row of the paper | linear | non-linear |", "|---|---|---|"]
    paper += [f"| {name} | `{linear}` | `{rbf}` |" for name, linear, rbf in paper_rows()]
    return {"methods": "\n".join(methods), "paper": "\n".join(paper)}


def updated(page: str) -> str:
    """The page with its tables regenerated, between ``<!-- name -->`` and ``<!-- end of name -->``."""
    for name, table in tables().items():
        before, _, rest = page.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- end of {name} -->\n")
        page = f"{before}<!-- {name} -->\n\n{table}\n\n<!-- end of {name} -->\n{after}"
    return page


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
