"""The report: our figures and the published ones, the tests between methods, and what the paper contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean
from typing import Any

from pyod_gessvdd.experiments.data.paper import CLEAN
from pyod_gessvdd.experiments.detectors.paper.methods import LINEAR, METHODS, NONLINEAR
from pyod_gessvdd.experiments.environment import described_machine
from pyod_gessvdd.experiments.report.paper.published import AVERAGE, Published
from pyod_gessvdd.experiments.report.paper.summary import METRICS, SPREAD, Line, summarise
from pyod_gessvdd.experiments.statistics.signed_ranks import LEVEL, critical_value, signed_ranks

#: The method that the paper tests against all others.
REFERENCE = {LINEAR: "GESSVDD-kNN-GR-min", NONLINEAR: "GESSVDD-kNN-SR-max"}
#: What ``--scale`` does, in words.
SCALING = {
    "minmax": "Features are scaled to [0, 1] by the training rows of the target class (MNIST's are not).",
    "standard": "Features are standardised by the training rows of the target class (MNIST's are not).",
    "none": "Features are not scaled.",
}
#: A figure within this many published standard deviations of the published one agrees with it.
AGREES = 2.0


@dataclass(frozen=True)
class Difference:
    """Our average Gmean of a variant, and the paper's."""

    method: str
    ours: float
    published: float
    deviations: float


def report(trials: Sequence[dict[str, Any]], meta: dict[str, Any], published: Published | None) -> str:
    """The whole report as Markdown.

    Parameters
    ----------
    trials : sequence of dict
        From :func:`~pyod_gessvdd.experiments.report.paper.trials.trials_of`.
    meta : dict
        What they share: the run's.
    published : Published or None
        The paper's figures, if known.
    """
    lines = summarise(trials)
    failures = [trial for trial in trials if trial["status"] != "done"]
    parts = ["# The experiments of the GESSVDD paper", "", *_protocol(trials, meta), ""]
    for dataset, description in dict.fromkeys((line.dataset, line.description) for line in lines):
        table = [line for line in lines if (line.dataset, line.description) == (dataset, description)]
        table.sort(key=lambda line: list(METHODS).index(line.method))
        parts += [f"## {dataset}, {description}", "", *_gmeans(table, published), "", *_rates(table), ""]
        if published:
            parts += [*_agreement(table, published), ""]
    parts += [*_tests(lines)]
    if failures:
        parts += ["## Failed trials", ""]
        parts += [
            f"- {trial['dataset']}, {trial['description']}, {trial['method']}, {trial['target']}, "
            f"split {trial['split']}: {trial['error']}"
            for trial in failures
        ]
        parts.append("")
    if published:
        parts += ["## Where the published figures contradict themselves", ""]
        parts += [f"- {sentence}." for sentence in published.inconsistencies()] or ["Nowhere that was looked for."]
    return "\n".join(parts).rstrip() + "\n"


def _protocol(trials: Sequence[dict[str, Any]], meta: dict[str, Any]) -> Iterator[str]:
    """What was run and how, and what was decided where the paper is silent."""
    arguments = meta["arguments"]
    yield (
        f"{len(trials)} trials with {sum(trial['n_points'] for trial in trials):,} points of their grids, "
        f"pyod-gessvdd {meta.get('package_version', '?')}, seed {arguments['seed']}, "
        f"started {meta.get('created', '?')}."
    )
    about = [f"{name} {version}" for name, version in meta.get("versions", {}).items()]
    if about:
        yield f"{', '.join(about)}; {', '.join(described_machine(meta.get('machine', {})))}."
    yield ""
    yield "- " + ("A part of the paper's grid (--quick)." if arguments["quick"] else "The paper's whole grid.")
    yield f"- {SCALING[arguments['scale']]} The paper does not say whether it scales."
    yield "- The sphere (OCSVM and GESVM: the hyperplane) decides. kNN links the nearest points, as the paper writes."
    yield "- Among equally good points of the grid the first one counts; d above the number of features is left out."
    for column, what in (
        ("n_infeasible", "points of the grid that could not be fitted"),
        ("n_unsolved", "points with unsolved QPs"),
    ):
        yield f"- {sum(trial[column] for trial in trials):,} {what}."


# Tables -----------------------------------------------------------------------------------------------------------


def _gmeans(table: Sequence[Line], published: Published | None) -> Iterator[str]:
    """Gmean ± standard deviation, next to it the published figure and the difference in its standard deviations."""
    targets = table[0].targets
    shown = targets if len(targets) <= 4 else [AVERAGE]
    per_target = 3 if published else 1
    heading = ["Gmean"]
    for target in shown:
        heading += [target, "published", "Δ/sd"][:per_target]
    yield from _table_head(heading)
    for line in table:
        cells = [line.method]
        for target in shown:
            cells += _cells(line, target, published)[:per_target]
        yield _row(cells)
    yield ""
    splits = sorted({line.n_splits for line in table})
    count = "1 split" if splits == [1] else f"{' to '.join(map(str, splits))} splits"
    yield (
        f"Mean ± standard deviation over {count}; the average's deviation is the mean "
        "of the classes'." + (" Δ/sd: ours less the published, in published standard deviations." if published else "")
    )


def _cells(line: Line, target: str, published: Published | None) -> list[str]:
    ours = f"{line.figures['Gmean', target]:.2f} ± {_number(line.figures[SPREAD, target])}"
    if published is None:
        return [ours]
    theirs = published.get(line.block, "Gmean", target, line.method)
    spread = published.get(line.block, SPREAD, target, line.method)
    if theirs is None:
        return [ours, "", ""]
    deviations = _deviations(line.figures["Gmean", target] - theirs, spread)
    beside = f"{theirs:.2f}" if spread is None else f"{theirs:.2f} ± {spread:.2f}"
    return [ours, beside, "" if isnan(deviations) else f"{deviations:+.1f}"]


def _deviations(difference: float, spread: float | None) -> float:
    """A difference in standard deviations; NaN if none is published or it is 0.00."""
    return difference / spread if spread else float("nan")


def _rates(table: Sequence[Line]) -> Iterator[str]:
    """TPR, TNR, FPR and FNR, averaged over the target classes."""
    yield from _table_head(["average", *METRICS])
    for line in table:
        yield _row([line.method, *(f"{line.figures[metric, AVERAGE]:.2f}" for metric in METRICS)])


def _table_head(heading: Sequence[str]) -> Iterator[str]:
    yield _row(heading)
    yield _row(["---", *("---:" for _ in heading[1:])])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.2f}"


# Agreement with the paper -----------------------------------------------------------------------------------------


def differences(table: Sequence[Line], published: Published) -> list[Difference]:
    """For the variants with a published average, how far ours is from it."""
    found = []
    for line in table:
        theirs = published.get(line.block, "Gmean", AVERAGE, line.method)
        if METHODS[line.method].is_variant and theirs is not None:
            ours = line.figures["Gmean", AVERAGE]
            spread = published.get(line.block, SPREAD, AVERAGE, line.method)
            found.append(Difference(line.method, ours, theirs, _deviations(ours - theirs, spread)))
    return found


def _agreement(table: Sequence[Line], published: Published) -> Iterator[str]:
    compared = differences(table, published)
    if not compared:
        yield "The paper has no figures for these variants."
        return
    ours, theirs = fmean(each.ours for each in compared), fmean(each.published for each in compared)
    yield f"Mean over {len(compared)} variants: Gmean {ours:.3f}, published {theirs:.3f} ({ours - theirs:+.3f})."
    measured = [each for each in compared if not isnan(each.deviations)]
    if not measured:
        return
    outside = [each for each in measured if abs(each.deviations) > AGREES]
    inside = len(measured) - len(outside)
    yield (
        f"Within {AGREES:g} published standard deviations: {inside} of {len(measured)} variants "
        f"({100 * inside / len(measured):.0f} %)."
    )
    for each in outside:
        yield f"- outside: {each.method}, {each.ours:.2f} against {each.published:.2f} ({each.deviations:+.1f} sd)"


# Tests between methods --------------------------------------------------------------------------------------------


def _tests(lines: Sequence[Line]) -> Iterator[str]:
    """T of the paper's reference against every other method over the data sets that both were run on."""
    for description, reference in REFERENCE.items():
        averages: dict[str, dict[str, float]] = {}
        for line in lines:
            if line.description == description and line.dataset in CLEAN:
                averages.setdefault(line.method, {})[line.dataset] = line.figures["Gmean", AVERAGE]
        ours = averages.pop(reference, {})
        shared = {method: [name for name in ours if name in figures] for method, figures in averages.items()}
        shared = {method: names for method, names in shared.items() if len(names) > 1}
        if not shared:
            continue
        yield f"## Wilcoxon's signed-rank test, {description}, against {reference}"
        yield ""
        yield from _table_head(["method", "T", "critical T", "data sets", f"significant at {LEVEL}"])
        for method in sorted(shared, key=list(METHODS).index):
            names = shared[method]
            test = signed_ranks([ours[name] - averages[method][name] for name in names])
            shown = f"{-test.T if test.minus > test.plus else test.T:g}"
            critical = critical_value(test.n)
            verdict = "yes" if test.p <= LEVEL else "no"
            yield _row([method, shown, "none" if critical is None else str(critical), str(test.n), verdict])
        yield ""
        yield "A negative T: the other method is the better one. The paper's nine data sets have the critical T 5."
        yield ""


def csv_rows(lines: Sequence[Line], published: Published | None) -> list[dict[str, Any]]:
    """Every figure as a row with the published file's columns, ours and theirs."""
    return [
        {
            "metric": metric,
            **line.block._asdict(),
            "target_class": target,
            "method": line.method,
            "value": figure,
            "published": None if published is None else published.get(line.block, metric, target, line.method),
        }
        for line in lines
        for (metric, target), figure in line.figures.items()
    ]
