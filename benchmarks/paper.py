"""Tables and pictures of ``docs/reproduction.md``: ``python benchmarks/paper.py [--runs paper-runs]``.

Reads what ``paper_grid.py`` and ``paper_own.py`` have measured and writes ``benchmarks/results/paper/*.md``, ``*.csv``
and the pictures of the page. A missing run leaves its table out.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from paper_grid import points_of

from pyod_gessvdd.experiments.data.paper import DATASETS
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, NONLINEAR
from pyod_gessvdd.experiments.report.paper.published import AVERAGE, PAPER, Block, Published
from pyod_gessvdd.experiments.statistics.signed_ranks import critical_value, signed_ranks

matplotlib.use("agg")
from matplotlib import pyplot as plt

RESULTS = Path(__file__).parent / "results" / "paper"
PAGE = Path(__file__).parents[1] / "docs" / "reproduction.md"
#: The sets' numbers of columns, which decide which d exist.
N_FEATURES = {
    "seeds": 7, "qualitative_bankruptcy": 6, "somerville_happiness": 6, "liver": 6, "iris": 4, "ionosphere": 34,
    "sonar": 60, "heart": 13, "mnist": 784,
}  # fmt: skip
SETS = tuple(N_FEATURES)
#: The paper's number of updates.
UPDATES = 5
VARIANTS = [name for name, method in METHODS.items() if method.is_variant]
#: The order of the ablation, and its labels.
DEPARTURES = {
    "farthest": "farthest neighbours in kNN",
    "sb_times_n": "N · S_b",
    "random_start": "random start",
    "uncentred": "no centring",
    "libsvm": "dual as LIBSVM leaves it at 1e-3",
    "eigenvalues": "eigenvalues below 1e-6 dropped",
    "kmeans": "clusters drawn anew in every fit",
    "all": "all together",
}


#: Figures by graph that the page shows, means over draws where there are several.
GRAPH_TABLES = (("graphs", "as_written", ""), ("graphs standardised", "all", "_standard"))
NONLINEAR_SETUPS = {"as_written": "as written", "width": "σ² in mean squared distances", "all": "all together"}


@dataclass(frozen=True)
class Run:
    """One file of ``paper_grid.py``: for every method, target and split, the figures of all points and iterates."""

    name: str
    description: str
    setup: str
    grid: str
    values: dict[tuple[str, int, str], Any]
    seconds: float

    @property
    def n_splits(self) -> int:
        """How many splits of each target."""
        return 1 + max(split for _, split, _ in self.values)

    @property
    def methods(self) -> list[str]:
        """In the order of the paper's tables."""
        held = {method for _, _, method in self.values}
        return [name for name in METHODS if name in held]

    @property
    def average(self) -> str:
        """What the average over the targets is called: the paper's name only if all targets were run."""
        whole = {target for target, _, _ in self.values} == set(DATASETS[self.name].targets)
        return AVERAGE if whole else "average of the targets that were run"

    def quick(self) -> Run:
        """Only the points of the quick grid."""
        if self.grid == "quick":
            return self
        return Run(self.name, self.description, self.setup, "quick", _quick_values(self), self.seconds)

    def of_splits(self, n_splits: int) -> Run:
        """Only the first splits."""
        values = {key: value for key, value in self.values.items() if key[1] < n_splits}
        return Run(self.name, self.description, self.setup, self.grid, values, self.seconds)

    def choose(self, rule: str = "validation", iterate: Any = None) -> pd.DataFrame:
        """A row for each trial: Gmean, TPR and TNR at the point that the rule chooses.

        ``rule`` is "validation", the paper's, or "test"; ``iterate`` the number of updates (all if None), "chosen" if
        the rule chooses it too, or "chosen, not the last" if it has the first five models to choose from.
        """
        rows = []
        for (target, split, method), value in self.values.items():
            figures = _iterates(value, iterate)
            flat = figures.reshape(-1, 3)
            gmean = np.sqrt(flat[:, 1] * flat[:, 2])
            merit = flat[:, 0] if rule == "validation" else gmean
            if np.isnan(merit).all():
                continue
            best = int(np.nanargmax(merit))
            rows.append((method, target, split, gmean[best], flat[best, 1], flat[best, 2]))
        return pd.DataFrame(rows, columns=["method", "target", "split", "gmean", "tpr", "tnr"]).dropna()

    def summary(self, rule: str = "validation", iterate: Any = None) -> pd.DataFrame:
        """By method and target, averages over the targets included, as the paper prints them."""
        trials = self.choose(rule, iterate)
        trials["target"] = trials["target"].map(DATASETS[self.name].targets)
        by_target = trials.groupby(["method", "target"])[["gmean", "tpr", "tnr"]].mean()
        by_target["sd"] = trials.groupby(["method", "target"])["gmean"].std()
        average = by_target.groupby("method").mean()
        average.index = pd.MultiIndex.from_product([average.index, [self.average]], names=["method", "target"])
        return pd.concat([by_target, average]).sort_index()

    def means(self, rule: str = "validation", iterate: Any = None) -> pd.Series:
        """Gmean by method, on average over the targets."""
        return self.summary(rule, iterate).xs(self.average, level="target")["gmean"]


def _iterates(value: Any, iterate: Any) -> Any:
    """The iterates that may be chosen; a method without updates has one."""
    if iterate == "chosen" or value.shape[2] == 1:
        return value
    if iterate == "chosen, not the last":
        return value[:, :, :UPDATES]
    return value[:, :, [-1 if iterate is None else iterate]]


def _quick_values(run: Run) -> dict[tuple[str, int, str], Any]:
    values = {}
    for key, value in run.values.items():
        method = METHODS[key[2]]
        full, sigmas = points_of(method, run.description, N_FEATURES[run.name], False)
        few, few_sigmas = points_of(method, run.description, N_FEATURES[run.name], True)
        values[key] = value[np.ix_([sigmas.index(s) for s in few_sigmas], [full.index(point) for point in few])]
    return values


@cache
def load(folder: Path, name: str, description: str, setup: str, suffix: str = "") -> Run | None:
    """The run of that name, on the full grid if there is one; None if there is none."""
    for grid in ("full", "quick"):
        path = folder / f"{name}_{description}_{setup}_{grid}{suffix}.npz"
        if path.exists():
            held = dict(np.load(path))
            seconds = float(held.pop("seconds"))
            values = {}
            for key, value in held.items():
                target, split, method = key.split("|")
                values[target, int(split), method] = value.astype(float)
            return Run(name, description, setup, grid, _whole_splits(values), seconds)
    return None


def _whole_splits(values: dict[tuple[str, int, str], Any]) -> dict[tuple[str, int, str], Any]:
    """The splits that every method has for every target, so that all are compared on the same rows."""
    targets = {key[0] for key in values}
    splits: dict[str, set[int]] = {}
    for _, split, method in values:
        if all((target, split, method) in values for target in targets):
            splits.setdefault(method, set()).add(split)
    common = set.intersection(*splits.values())
    return {key: value for key, value in values.items() if key[1] in common and key[2] in splits}


def markdown(table: pd.DataFrame, digits: int = 3) -> str:
    """A Markdown table, numbers right-aligned."""
    cells = [[_cell(value, digits) for value in row] for row in table.itertuples()]
    head = [table.index.name or "", *map(str, table.columns)]
    lines = [head, ["---", *["---:"] * len(table.columns)], *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | np.integer):
        return str(value)
    return "" if value is None or np.isnan(value) else f"{value:.{digits}f}"


def block_of(run: Run) -> Block:
    dataset = DATASETS[run.name]
    if dataset.family != "heart":
        return Block(run.description, dataset.family, "", "")
    train, test = ("corrupted" if noisy else "clean" for noisy in dataset.noisy)
    return Block(run.description, "heart", train, test)


def against_published(run: Run, published: Published, **rule: Any) -> pd.DataFrame:
    """Our figures and the published ones, every target; Δ/sd is their difference in published standard deviations."""
    rows = []
    for (method, target), line in run.summary(**rule).iterrows():
        theirs = {
            name: published.get(block_of(run), name, target, method) for name in ("Gmean", "Gmean-sd", "TPR", "TNR")
        }
        sd = theirs["Gmean-sd"]
        delta = None if not sd or theirs["Gmean"] is None else (line["gmean"] - theirs["Gmean"]) / sd
        rows.append({"method": method, "target": target, **line.to_dict(), **theirs, "Δ/sd": delta})
    return pd.DataFrame(rows)


def variants_table(run: Run, published: Published) -> str:
    """One set: averages over its targets, with the published ones if there are any."""
    table = against_published(run, published)
    table = table[table["target"] == run.average].set_index("method").loc[run.methods]
    shown = table[["gmean", "sd", "tpr", "tnr"]]
    if table["Gmean"].notna().any():
        shown = shown.join(table[["Gmean", "Gmean-sd", "TPR", "TNR", "Δ/sd"]].astype(float).add_prefix("published "))
        shown = shown.rename(columns={"published Δ/sd": "Δ/sd"}).dropna(axis=1, how="all")
    shown.index.name = "method"
    return markdown(shown, 2)


def described(run: Run) -> str:
    grid = "the paper's whole grid" if run.grid == "full" else "the quick grid (3 C, 4 d, 3 η, 4 σ of the paper's)"
    splits = f"{run.n_splits} split{'s' if run.n_splits > 1 else ''}"
    targets = "" if run.average == AVERAGE else f"targets {', '.join(sorted({key[0] for key in run.values}))} only, "
    return f"{grid}, {splits}, {targets}{len(run.methods)} methods, {run.seconds:.0f} s of computing"


def write_sets(folder: Path, published: Published) -> pd.DataFrame:
    """linear.md, non-linear.md, corrupted.md and all their figures as one CSV."""
    frames = []
    noisy = tuple(name for name in DATASETS if "noisy" in name)
    for title, names, kinds in (
        ("linear", SETS, (LINEAR,)),
        ("non-linear", SETS, (NONLINEAR,)),
        ("corrupted", noisy, (LINEAR, NONLINEAR)),
    ):
        parts = []
        for name in names:
            for description in kinds:
                run = load(folder, name, description, "as_written")
                if run is None:
                    continue
                parts.append(f"## {name}, {description}\n\nRun: {described(run)}.\n\n{variants_table(run, published)}")
                frames.append(
                    against_published(run, published).assign(
                        dataset=name, description=description, grid=run.grid, splits=run.n_splits
                    )
                )
        if parts:
            text = f"# The paper's experiments, {title}\n\nAs the paper writes them. {AVERAGES}\n\n" + "\n".join(parts)
            (RESULTS / f"{title}.md").write_text(text, encoding="utf-8")
    table = pd.concat(frames, ignore_index=True)
    table.round(4).to_csv(RESULTS / "figures.csv", index=False)
    return table


AVERAGES = (
    "Averages over the targets; sd is the mean of the targets' standard deviations over the splits, as in the paper; "
    "Δ/sd is ours less the published Gmean, in published standard deviations."
)


def ablation(folder: Path, published: Published) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Mean Gmean over the 34 variants: as written, with each departure, with all; and by variant for each set.

    A departure that touches only some variants leaves the others as they are. All on the quick grid.
    """
    rows, by_variant = [], {}
    for name in ("heart", "iris", "seeds", "liver"):
        whole = load(folder, name, LINEAR, "as_written")
        if whole is None:
            continue
        base = whole.quick()
        chosen = {"iterate": "chosen, not the last"}
        columns = {"as written": (base, {}), "last update thrown away": (base, {"iterate": 4})}
        columns["number of updates chosen by the folds"] = (base, chosen)
        for setup, words in DEPARTURES.items():
            run = load(folder, name, LINEAR, setup)
            if run is not None:
                columns[words] = (run.quick().of_splits(base.n_splits), {})
                if setup == "all":
                    columns["all together, number of updates chosen by the folds"] = (
                        run.quick().of_splits(base.n_splits),
                        chosen,
                    )
        table = {}
        for what, (run, rule) in columns.items():
            as_written = base.of_splits(run.n_splits).means().loc[VARIANTS]
            found = run.means(**rule).reindex(VARIANTS).fillna(as_written)
            moved = (found - as_written)[(found - as_written).abs() > 1e-12]
            table[f"{what} ({run.n_splits})"] = found
            rows.append(
                {
                    "set": name,
                    "what": what,
                    "splits": run.n_splits,
                    "mean Gmean": found.mean(),
                    "as written, same splits": as_written.mean(),
                    "change": (found - as_written).mean(),
                    "variants moved": len(moved),
                    "mean change of those": moved.mean() if len(moved) else 0.0,
                }
            )
        by_variant[name] = pd.DataFrame(table)
    return pd.DataFrame(rows), by_variant


def nonlinear_ablation(folder: Path) -> pd.DataFrame:
    """Heart and MNIST in the kernel's space: as written, with σ² in mean squared distances, with all departures."""
    rows = {}
    for name in ("heart", "mnist"):
        runs = {words: load(folder, name, NONLINEAR, setup) for setup, words in NONLINEAR_SETUPS.items()}
        there = {words: run for words, run in runs.items() if run is not None}
        n_splits = min((run.n_splits for run in there.values()), default=0)
        methods = [method for method in VARIANTS if all(method in run.methods for run in there.values())]
        for words, run in there.items():
            of_splits = run.of_splits(n_splits)
            rows[f"{name}, {words}"] = {
                "splits": n_splits,
                "variants": len(methods),
                "mean Gmean": of_splits.means().loc[methods].mean(),
                "no update": of_splits.means(iterate=0).loc[methods].mean(),
                "number of updates chosen": of_splits.means(iterate="chosen, not the last").loc[methods].mean(),
            }
    table = pd.DataFrame(rows).T
    table.index.name = "non-linear, quick grid"
    return table.astype({"splits": int, "variants": int}) if len(table) else table


def near(run: Run, published: Published, **rule: Any) -> dict[str, float]:
    """How close the 34 variants come to the published Heart figures."""
    table = against_published(run, published, **rule)
    table = table[table["method"].isin(VARIANTS) & table["Gmean"].notna()]
    average, single = table[table["target"] == AVERAGE], table[table["target"] != AVERAGE]
    return {
        "mean Gmean": average["gmean"].mean(),
        "published": average["Gmean"].astype(float).mean(),
        "averages within 1 sd": (average["Δ/sd"].abs() <= 1).mean(),
        "single figures within 1 sd": (single["Δ/sd"].abs() <= 1).mean(),
        "TPR": average["tpr"].mean(),
        "TNR": average["tnr"].mean(),
    }


def explanations(folder: Path, published: Published) -> pd.DataFrame:
    """What else could explain the published figures: other rules of choice, other scalings, departures or not."""
    rows = {}
    for setup, words in (
        ("as_written", "as written"),
        ("all", "all departures"),
        ("all+libsvm_middle", "all departures, R² the middle"),
    ):
        run = load(folder, "heart", LINEAR, setup)
        if run is None:
            continue
        grid = f", {run.grid} grid"
        rows[f"{words}{grid}"] = near(run, published)
        rows[f"{words}{grid}, no update at all"] = near(run, published, iterate=0)
        rows[f"{words}{grid}, 0 to 4 updates, chosen by the folds"] = near(
            run, published, iterate="chosen, not the last"
        )
        rows[f"{words}{grid}, 0 to 5 updates, chosen by the folds"] = near(run, published, iterate="chosen")
        rows[f"{words}{grid}, chosen on the test rows"] = near(run, published, rule="test")
        rows[f"{words}{grid}, number of updates and point chosen on the test rows"] = near(
            run, published, rule="test", iterate="chosen"
        )
        for scale, means in (("none", "not scaled"), ("standard", "standardised")):
            other = load(folder, "heart", LINEAR, setup, f"_{scale}")
            if other is not None:
                rows[f"{words}, {other.grid} grid, {means}"] = near(other, published)
                rows[f"{words}, {other.grid} grid, {means}, 0 to 4 updates, chosen by the folds"] = near(
                    other, published, iterate="chosen, not the last"
                )
    table = pd.DataFrame(rows).T
    table.index.name = "Heart, linear, 34 variants"
    return table


def drawn(folder: Path, setup: str, scale: str = "") -> list[Run]:
    """Heart, linear, with a setup and a scaling: one run for each draw of random starts and clusters."""
    suffixes = (scale, *(f"{scale}_draw{k}" for k in range(1, 10)))
    runs = [load(folder, "heart", LINEAR, setup, suffix) for suffix in suffixes]
    return [run for run in runs if run is not None]


def draws(folder: Path, published: Published) -> pd.DataFrame:
    """Heart's figures as means over draws of random starts and clusters, and how much they differ between draws."""
    rows = {}
    for scale, scaled in (("", ""), ("_standard", ", standardised")):
        for setup, words in (("random_start", "random start alone"), ("all", "all departures")):
            for rule, what in (({}, "five updates"), ({"iterate": "chosen, not the last"}, "number of updates chosen")):
                found = [against_published(run.quick(), published, **rule) for run in drawn(folder, setup, scale)]
                if len(found) > 1:
                    rows[f"{words}{scaled}, {what}"] = _over_draws(found)
    table = pd.DataFrame(rows).T
    table.index.name = "Heart, linear, quick grid"
    return table.astype({"draws": int}) if len(table) else table


def _over_draws(found: list[pd.DataFrame]) -> dict[str, float]:
    """The means of the 34 variants over whole runs that differ in their draws alone."""
    tables = [table[table["method"].isin(VARIANTS)].set_index(["method", "target"]) for table in found]
    every = pd.DataFrame({k: table["gmean"] for k, table in enumerate(tables)})
    theirs = tables[0][["Gmean", "Gmean-sd"]].astype(float)
    near = ((every.mean(axis=1) - theirs["Gmean"]) / theirs["Gmean-sd"]).abs() <= 1
    average = every.index.get_level_values("target") == AVERAGE
    return {
        "draws": every.shape[1],
        "mean Gmean": every[average].mean(axis=1).mean(),
        "averages within 1 sd": near[average].mean(),
        "single figures within 1 sd": near[~average].mean(),
        "deviation between draws": every[average].mean().std(),
        "of a variant, on average": every[average].std(axis=1).mean(),
        "at most": every[average].std(axis=1).max(),
    }


def by_graph(run: Run, published: Published, **rule: Any) -> pd.DataFrame:
    """TPR and TNR by graph, ours and the published ones."""
    table = against_published(run, published, **rule)
    table = table[(table["target"] == AVERAGE) & table["method"].isin(VARIANTS)]
    table["graph"] = table["method"].str.split("-").str[1]
    figures = table[["gmean", "tpr", "tnr", "Gmean", "TPR", "TNR"]].astype(float)
    found = figures.groupby(table["graph"]).mean()
    return found.rename(columns={"Gmean": "published Gmean", "TPR": "published TPR", "TNR": "published TNR"})


def write_ablation(folder: Path, published: Published) -> None:
    table, by_variant = ablation(folder, published)
    table.round(4).to_csv(RESULTS / "ablation.csv", index=False)
    parts = [
        "# Departures of the published implementation, one by one\n\n"
        "Linear, the quick grid; the paper's protocol otherwise.\n"
    ]
    for name, of_set in table.groupby("set", sort=False):
        parts.append(f"## {name}\n\n" + markdown(of_set.set_index("what").drop(columns="set")))
        parts.append("By variant, averages over the targets; the number of splits in brackets:\n")
        wide = by_variant[name].copy()
        if name == "heart":
            block = Block(LINEAR, "heart", "clean", "clean")
            wide.insert(0, "published", [published.get(block, "Gmean", AVERAGE, method) for method in wide.index])
        wide.index.name = "variant"
        parts.append(markdown(wide, 2))
    by_kernel = nonlinear_ablation(folder)
    if len(by_kernel):
        parts.append("## Non-linear\n\nMeans over the same splits and variants:\n\n" + markdown(by_kernel))
    heart = explanations(folder, published)
    parts.append("## What else could make the published Heart figures\n\n" + markdown(heart))
    heart.round(4).to_csv(RESULTS / "explanations.csv")
    parts.append("## Other random starts and clusters\n\n" + markdown(draws(folder, published)))
    chosen = {"iterate": "chosen, not the last"}
    for setup, words, rule in (
        ("as_written", "as written", {}),
        ("as_written", "as written, number of updates chosen by the folds", chosen),
        ("all", "all departures", {}),
        ("all", "all departures, number of updates chosen by the folds", chosen),
        ("all+libsvm_middle", "all departures, R² the middle of LIBSVM's interval, number of updates chosen", chosen),
    ):
        run = load(folder, "heart", LINEAR, setup)
        if run is not None:
            parts.append(f"### By graph, {words}\n\n" + markdown(by_graph(run, published, **rule)))
    (RESULTS / "ablation.md").write_text("\n".join(parts), encoding="utf-8")
    draw_ablation(table)


def draw_ablation(table: pd.DataFrame) -> None:
    names = [what for what in table["what"].unique() if what != "as written"]
    sets = list(table["set"].unique())
    figure, axes = plt.subplots(figsize=(8, 0.52 * len(names) + 1.2), layout="constrained")
    height = 0.8 / len(sets)
    for k, name in enumerate(sets):
        of_set = table[table["set"] == name].set_index("what")["change"].reindex(names)
        axes.barh(np.arange(len(names)) + k * height, of_set, height, label=name)
    axes.set_yticks(np.arange(len(names)) + 0.4 - height / 2, names)
    axes.invert_yaxis()
    axes.axvline(0, color="0.2", lw=0.8)
    axes.set_xlabel("change of the mean Gmean over the 34 variants")
    axes.legend(frameon=False)
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(RESULTS / "ablation.png", dpi=110)
    plt.close(figure)


def draw_published(folder: Path, published: Published) -> None:
    """Published against ours, a dot per variant: as written, the number of updates chosen, and with all departures."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained", sharex=True, sharey=True)
    colours = dict(
        zip(("0", "I", "PCA", "Sw", "Sb", "kNN"), plt.rcParams["axes.prop_cycle"].by_key()["color"], strict=False)
    )
    chosen = {"iterate": "chosen, not the last"}
    shown = (
        ("as written", "as_written", "", {}),
        ("number of updates chosen", "as_written", "", chosen),
        ("chosen, standardised, all departures", "all", "_standard", chosen),
    )
    for panel, (words, setup, scale, rule) in zip(panels, shown, strict=True):
        runs = drawn(folder, setup, scale)
        if not runs:
            continue
        tables = [against_published(run, published, **rule).set_index(["method", "target"]) for run in runs]
        table = tables[0].assign(gmean=sum(table["gmean"] for table in tables) / len(tables)).reset_index()
        table = table[(table["target"] == AVERAGE) & table["method"].isin(VARIANTS)]
        for graph, of_graph in table.groupby(table["method"].str.split("-").str[1], sort=False):
            x, sd = of_graph["Gmean"].astype(float), of_graph["Gmean-sd"].astype(float)
            panel.errorbar(x, of_graph["gmean"], xerr=sd, fmt="o", ms=5, lw=0.6, color=colours[graph], label=graph)
        panel.plot([0.2, 0.8], [0.2, 0.8], color="0.4", lw=0.8, ls="--")
        of_draws = f", {len(runs)} draws" if len(runs) > 1 else ""
        panel.set_title(f"{words} ({runs[0].grid} grid{of_draws})", fontsize="medium")
        panel.set_xlabel("published Gmean, ± its standard deviation")
        panel.set_xlim(0.2, 0.8)
        panel.set_ylim(0.2, 0.8)
        panel.set_aspect("equal")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("our Gmean")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, title="graph")
    figure.suptitle("Heart, linear: the 34 variants", fontsize="medium")
    figure.savefig(RESULTS / "published.png", dpi=110)
    plt.close(figure)


def wilcoxon(folder: Path) -> None:
    """The paper's test: one variant against the others over the sets, linear and non-linear."""
    parts = [
        "# Wilcoxon's signed ranks over the sets\n\nAs in the paper: T of one variant against each other method, over "
        "the sets' averages; negative where the other one is better. T must be at most the critical value of so many "
        "sets. A set counts if all 34 variants were run on it, and a method on the sets that it was run on.\n"
    ]
    for description, champion in ((LINEAR, "GESSVDD-kNN-GR-min"), (NONLINEAR, "GESSVDD-kNN-SR-max")):
        runs = [load(folder, name, description, "as_written") for name in SETS]
        runs = [run for run in runs if run is not None and set(VARIANTS) <= set(run.methods) and run.average == AVERAGE]
        means = {run.name: run.means() for run in runs}
        if len(means) < 5:
            continue
        table = pd.DataFrame(means)
        rows = {}
        for method in table.index.drop(champion):
            both = table.loc[[champion, method]].dropna(axis=1)
            test = signed_ranks(both.loc[champion] - both.loc[method])
            sign = 1 if test.plus >= test.minus else -1
            rows[method] = {
                "sets": both.shape[1],
                "mean Gmean": both.loc[method].mean(),
                "difference": (both.loc[champion] - both.loc[method]).mean(),
                "T": sign * test.T,
                "p": test.p,
                "better on": int((both.loc[champion] > both.loc[method]).sum()),
            }
        found = pd.DataFrame(rows).T.sort_values("difference").astype({"sets": int, "better on": int})
        found.index.name = f"{champion} ({table.loc[champion].mean():.3f}) against"
        n = table.shape[1]
        sets = f"{n} sets: {', '.join(table.columns)}; critical values {critical_value(n)} of {n} and "
        sets += f"{critical_value(n - 1)} of {n - 1} sets"
        parts.append(f"## {description}\n\n{sets}.\n\n{markdown(found)}")
        best = table.T.round(3)
        winners = [f"{name} {best.loc[name].max():.3f} ({best.loc[name].idxmax()})" for name in best.index]
        parts.append(f"The best of each set: {', '.join(winners)}.\n")
    (RESULTS / "wilcoxon.md").write_text("\n".join(parts), encoding="utf-8")


def sensitivity(folder: Path) -> None:
    """Gmean on Heart's test rows with one hyperparameter changed, the others as the folds chose them."""
    linear, by_width = (load(folder, "heart", description, "as_written") for description in (LINEAR, NONLINEAR))
    if linear is None or by_width is None:
        return
    shown = ("GESSVDD-kNN-GR-min", "GESSVDD-Sb-GR-max", "GESSVDD-0-GR-min", "GESSVDD-kNN-SR-max", "GESSVDD-PCA-S-min")
    figure, panels = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained", sharey=True)
    rows = []
    for panel, run, name, symbol in zip(
        panels,
        (linear, linear, linear, by_width),
        ("C", "n_components", "step_size", "sigma"),
        ("C", "d", "η", "σ (non-linear)"),
        strict=True,
    ):
        for method in shown:
            curve = _one_changed(run, method, name)
            if curve:
                panel.plot(list(curve), list(curve.values()), marker="o", ms=4, label=method.removeprefix("GESSVDD-"))
            rows += [{"method": method, "parameter": name, "value": v, "gmean": m} for v, m in curve.items()]
        panel.set_xlabel(symbol)
        panel.grid(alpha=0.3)
    panels[2].set_xscale("log")
    panels[3].set_xscale("log")
    panels[0].set_ylabel("Gmean on the test rows")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize="small")
    figure.suptitle("Heart: one hyperparameter changed, the others as chosen", fontsize="medium")
    figure.savefig(RESULTS / "sensitivity.png", dpi=110)
    plt.close(figure)
    pd.DataFrame(rows).round(4).to_csv(RESULTS / "sensitivity.csv", index=False)


def _one_changed(run: Run, method: str, name: str) -> dict[float, float]:
    """The mean Gmean at each value of one hyperparameter, the others as the folds chose them; empty without it."""
    points, sigmas = points_of(METHODS[method], run.description, N_FEATURES[run.name], run.grid == "quick")
    every = [{**point, "sigma": sigma} for sigma in sigmas for point in points]
    if name not in every[0]:
        return {}
    curves: dict[float, list[float]] = {}
    for (_, _, found), value in run.values.items():
        if found != method:
            continue
        last = value[:, :, -1].reshape(-1, 3)
        best = every[int(np.nanargmax(last[:, 0]))]
        for point, (_, tpr, tnr) in zip(every, last, strict=True):
            if all(point[other] == best[other] for other in point if other != name):
                curves.setdefault(point[name], []).append(float(np.sqrt(tpr * tnr)))
    return {value: float(np.nanmean(curves[value])) for value in sorted(curves)}


def own(folder: Path, published: Published) -> None:
    """Our own description compared with the best of the paper's variants, ours and published."""
    frames = [pd.read_csv(path) for path in sorted(folder.glob("own_*.csv"))]
    if not frames:
        return
    trials = pd.concat(frames, ignore_index=True)
    trials.round(4).to_csv(RESULTS / "own.csv", index=False)
    # On the splits that the variants have too.
    linear = {name: load(folder, name, LINEAR, "as_written") for name in trials["dataset"].unique()}
    n_splits = trials["dataset"].map({name: run.n_splits for name, run in linear.items() if run is not None})
    trials = trials[trials["split"] < n_splits]
    by_target = trials.groupby(["dataset", "method", "target"])["gmean"].mean()
    table = by_target.groupby(["dataset", "method"]).mean().unstack()
    table = table[list(dict.fromkeys(trials["method"]))].loc[[name for name in SETS if name in table.index]]
    for description in (LINEAR, NONLINEAR):
        best, named, theirs, mean = {}, {}, {}, {}
        for name in table.index:
            run = load(folder, name, description, "as_written")
            if run is not None and run.average == AVERAGE:
                means = run.means().reindex([method for method in run.methods if METHODS[method].is_variant])
                best[name], named[name], mean[name] = means.max(), means.idxmax().removeprefix("GESSVDD-"), means.mean()
                figures = [published.get(block_of(run), "Gmean", AVERAGE, method) for method in VARIANTS]
                theirs[name] = max((figure for figure in figures if figure is not None), default=np.nan)
        table[f"mean of our {description} variants"] = pd.Series(mean)
        table[f"best of our {description} variants (picked on the test rows)"] = pd.Series(best)
        table[f"which, {description}"] = pd.Series(named)
        table[f"best published {description} variant"] = pd.Series(theirs)
    if all(run is not None for run in linear.values()):
        every = pd.DataFrame({name: linear[name].means().reindex(VARIANTS) for name in table.index})
        single = every.mean(axis=1).idxmax()
        table[f"{single}, the best of our linear variants on average (picked on the test rows)"] = every.loc[single]
    table.loc["mean"] = table.mean(numeric_only=True, skipna=False)  # over all sets or not at all
    table = table.T
    table.index.name = "Gmean"
    for column in table:
        table[column] = [
            value if isinstance(value, str) else ("" if pd.isna(value) else f"{value:.3f}") for value in table[column]
        ]
    text = (
        "# Our own description under the paper's protocol\n\nAverages over targets and splits, the splits that the "
        "linear variants were run on.\n\n"
    )
    (RESULTS / "own.md").write_text(text + markdown(table), encoding="utf-8")
    insert("own", markdown(table))


def family(folder: Path) -> None:
    """All members of the family, with few points of their grids."""
    frames = [pd.read_csv(path) for path in sorted(folder.glob("family_*.csv"))]
    if not frames:
        return
    trials = pd.concat(frames, ignore_index=True)
    trials.round(4).to_csv(RESULTS / "family.csv", index=False)
    by_target = trials.groupby(["dataset", "method", "target"])["gmean"].mean()
    table = by_target.groupby(["dataset", "method"]).mean().unstack(0).loc[list(dict.fromkeys(trials["method"]))]
    table = table[[name for name in SETS if name in table]]
    table["mean"] = table.mean(axis=1, skipna=False)
    table = table.sort_values("mean", ascending=False)
    table.index.name = "Gmean"
    n_splits = trials["split"].nunique()
    text = (
        "# The family under the paper's protocol\n\nEvery method of [the family](../../../docs/family.md) that takes a "
        "table and no labels: each class in turn the target, five folds within the training rows choose among C in "
        "{0.1, 0.3, 0.6}, d in {1, 3, 5} (MS-SVDD: 1, 2) and, in a kernel's space, σ in {1, 10}; η is 0.1, and the "
        f"boundary decides. {n_splits} split{'s' if n_splits > 1 else ''}: differences of a few hundredths are chance. "
        "Averages over the targets. An empty cell has no model for these rows.\n\n"
    )
    (RESULTS / "family.md").write_text(text + markdown(table), encoding="utf-8")


def insert(name: str, text: str) -> None:
    """Put a table between its two marks on the page, if the page has them."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if first in page and last in page:
        before, after = page.split(first)[0], page.split(last)[1]
        PAGE.write_text(f"{before}{first}\n\n{text.strip()}\n\n{last}{after}", encoding="utf-8")


def write_page(folder: Path, published: Published) -> None:
    """The tables of ``docs/reproduction.md``."""
    chosen = {"iterate": "chosen, not the last"}
    runs, sets = {}, {}
    for description in (LINEAR, NONLINEAR):
        for name in DATASETS:
            run = load(folder, name, description, "as_written")
            if run is None:
                continue
            key = f"{name}, {description}"
            variants = [method for method in run.methods if METHODS[method].is_variant]
            runs[key] = {
                "grid": run.grid,
                "splits": run.n_splits,
                "targets": f"{len({key[0] for key in run.values})} of {len(DATASETS[name].targets)}",
                "variants": len(variants),
                "others": len(run.methods) - len(variants),
                "seconds of computing": round(run.seconds),
            }
            means, freed = run.means().reindex(variants), run.means(**chosen).reindex(variants)
            figures = [published.get(block_of(run), "Gmean", run.average, method) for method in variants]
            known = [figure for figure in figures if figure is not None]
            sets[key] = {
                "variants": len(variants),
                "mean, as written": means.mean(),
                "mean, no update": run.means(iterate=0).reindex(variants).mean(),
                "mean, number of updates chosen": freed.mean(),
                "published mean": np.mean(known) if len(known) == len(variants) else np.nan,
                "best variant": means.idxmax().removeprefix("GESSVDD-"),
                "its Gmean": means.max(),
            }
    for title, rows in (("runs", runs), ("sets", sets)):
        table = pd.DataFrame(rows).T
        table.index.name = "set"
        for column in table:
            table[column] = table[column].infer_objects()
        insert(title, markdown(table))
    insert("explanations", markdown(explanations(folder, published).drop(columns="published")))
    insert("draws", markdown(draws(folder, published)))
    table, _ = ablation(folder, published)
    table["shown"] = [f"{line.change:+.3f} ({line.splits})" for line in table.itertuples()]
    first = table[table["what"] == "as written"].set_index("set")
    changes = table.pivot(index="what", columns="set", values="shown").loc[table["what"].unique()].fillna("")
    changes = changes[list(table["set"].unique())]
    changes.loc["as written"] = [
        f"{first.loc[name, 'mean Gmean']:.3f} ({first.loc[name, 'splits']})" for name in changes
    ]
    changes.index.name = "mean Gmean of 34 variants (splits)"
    insert("ablation", markdown(changes))
    for name, setup, scale in GRAPH_TABLES:
        found = [by_graph(run, published, **chosen) for run in drawn(folder, setup, scale)]
        if found:
            insert(name, markdown(sum(found[1:], found[0]) / len(found)))
    lines = [f"- {line}" for line in published.inconsistencies()]
    insert("contradictions", "\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, default=Path("paper-runs"))
    folder = parser.parse_args().runs
    RESULTS.mkdir(parents=True, exist_ok=True)
    published = Published.load(PAPER)
    write_sets(folder, published)
    write_ablation(folder, published)
    draw_published(folder, published)
    wilcoxon(folder)
    sensitivity(folder)
    own(folder, published)
    family(folder)
    write_page(folder, published)
    text = "# Where the published figures contradict themselves\n\n"
    (RESULTS / "contradictions.md").write_text(
        text + "".join(f"- {line}\n" for line in published.inconsistencies()), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
