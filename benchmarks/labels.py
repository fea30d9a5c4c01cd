"""What a few labelled outliers are worth: GESSVDD() with 1, 3 and 10 labels against itself without.

    PYOD_GESSVDD_DATA=data python benchmarks/labels.py     # writes results/labels.md and results/labels.png

Twenty ADBench sets by which the strength of the labels was chosen and ten by which it was not, two splits each. Half
of the normal rows, at most 600, are trained on, and the others scored with the outliers that are neither labelled nor
in training (at most 1,500 and 400). In the contaminated setting the training rows hold unlabelled outliers too, at
the set's own rate up to a fifth. Without labels the detector is fitted on the same rows, y ignored; in the novelty
setting without the outliers, which would not be there if nobody had labelled them.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import average_precision_score

from pyod_gessvdd import GESSVDD

RESULTS = Path(__file__).parent / "results"
N_LABELS, N_SPLITS, MAX_TRAIN, MAX_NORMAL, MAX_OUTLIERS, MAX_RATE = (1, 3, 10), 2, 600, 1500, 400, 0.2
SETS = (
    "2_annthyroid",
    "4_breastw",
    "6_cardio",
    "10_cover",
    "12_fault",
    "14_glass",
    "15_Hepatitis",
    "18_Ionosphere",
    "19_landsat",
    "20_letter",
    "21_Lymphography",
    "25_musk",
    "27_PageBlocks",
    "31_satimage-2",
    "32_shuttle",
    "38_thyroid",
    "39_vertebral",
    "42_WBC",
    "43_WDBC",
    "44_Wilt",
)


#: Nothing was chosen by these.
OTHERS = (
    "1_ALOI",
    "5_campaign",
    "8_celeba",
    "11_donors",
    "16_http",
    "17_InternetAds",
    "24_mnist",
    "33_skin",
    "34_smtp",
    "35_SpamBase",
)
SETTINGS = ("novelty", "contaminated")
#: Of larger sets, so many normal rows and outliers are drawn.
MAX_ROWS, DRAWN = 20_000, (10_000, 1000)
#: The smallest cluster of outliers that counts as a kind.
MIN_KIND = 20


def load(path):
    with np.load(path, allow_pickle=True) as data:
        X, y = data["X"].astype(float), data["y"].astype(int)
    if len(X) <= MAX_ROWS:
        return X, y
    random = np.random.default_rng(0)
    kinds = [random.permutation(np.flatnonzero(y == kind))[:count] for kind, count in enumerate(DRAWN)]
    return X[np.concatenate(kinds)], y[np.concatenate(kinds)]


def split(X, y, seed, novelty):
    """Training rows without the outliers to label, these, and test rows with their truth."""
    order = np.random.default_rng(seed).permutation(len(X))
    normal, outliers = X[order[y[order] == 0]], X[order[y[order] == 1]]
    labelled = outliers[: min(max(N_LABELS), len(outliers) // 2)]
    outliers = outliers[len(labelled) :]
    n_train = min(MAX_TRAIN, len(normal) // 2)
    rate = 0.0 if novelty else min(float(y.mean()), MAX_RATE)
    n_hidden = min(round(n_train * rate / (1 - rate)), len(outliers) // 2)
    train = np.vstack([normal[:n_train], outliers[:n_hidden]])
    tested = normal[n_train:][:MAX_NORMAL], outliers[n_hidden:][:MAX_OUTLIERS]
    return train, labelled, np.vstack(tested), np.repeat([0, 1], [len(rows) for rows in tested])


def precisions(X, y, seed, novelty):
    """The average precision without labels and with 1, 3 and 10."""
    train, labelled, rows, truth = split(X, y, seed, novelty)
    everything = train if novelty else np.vstack([train, labelled])
    found = [GESSVDD(novelty=novelty, random_state=0).fit(everything)]
    for count in N_LABELS:
        # In the contaminated setting the outliers beyond the count are there, and nobody knows of them.
        known = labelled[:count] if novelty else labelled
        marks = np.r_[np.full(len(train), -1.0), np.where(np.arange(len(known)) < count, 1.0, -1.0)]
        detector = GESSVDD(novelty=novelty, use_labels=True, random_state=0)
        found.append(detector.fit(np.vstack([train, known]), marks))
    return [average_precision_score(truth, detector.decision_function(rows)) for detector in found]


def other_kinds(X, y, novelty):
    """The average precision for outliers of another kind than the ten that are labelled, without labels and with.

    The kinds are two clusters of the set's outliers; each is labelled once. None if one of them is small.
    """
    normal, outliers = X[y == 0], X[y == 1]
    away = np.arcsinh((outliers - normal.mean(axis=0)) / (normal.std(axis=0) + 1e-9))
    if len(outliers) < 2 * MIN_KIND:
        return None
    kinds = KMeans(2, n_init=3, random_state=0).fit_predict(away)
    if min(np.bincount(kinds)) < MIN_KIND:
        return None
    random = np.random.default_rng(0)
    normal = random.permutation(normal)
    n_train = min(MAX_TRAIN, len(normal) // 2)
    found = []
    for kind in range(2):
        seen, unseen = random.permutation(outliers[kinds == kind]), random.permutation(outliers[kinds != kind])
        labelled, hidden = seen[:10], seen[10 : 10 + (0 if novelty else n_train // 40)]
        train = np.vstack([normal[:n_train], hidden])
        tested = normal[n_train:][:MAX_NORMAL], unseen[:MAX_OUTLIERS]
        rows, truth = np.vstack(tested), np.repeat([0, 1], [len(part) for part in tested])
        everything = np.vstack([train, labelled])
        marks = np.repeat([-1, 1], [len(train), len(labelled)])
        plain = GESSVDD(novelty=novelty, random_state=0).fit(train if novelty else everything)
        told = GESSVDD(novelty=novelty, use_labels=True, random_state=0).fit(everything, marks)
        found.append([average_precision_score(truth, detector.decision_function(rows)) for detector in (plain, told)])
    return found


def main():
    folder = Path(os.environ["PYOD_GESSVDD_DATA"]) / "adbench"
    results, unlike = {}, {setting: [] for setting in SETTINGS}
    for name in (*SETS, *OTHERS):
        X, y = load(folder / f"{name}.npz")
        for setting in SETTINGS:
            splits = [precisions(X, y, seed, setting == "novelty") for seed in range(N_SPLITS)]
            results[setting, name] = np.mean(splits, axis=0)
            unlike[setting] += other_kinds(X, y, setting == "novelty") or []
    write_table(results, unlike)
    draw(results)


def of(results, setting, names):
    return np.array([results[setting, name] for name in names])


def write_table(results, unlike):
    heads = ["without labels", *(f"{count} label{'s' * (count > 1)}" for count in N_LABELS)]
    lines = [
        "# A few labelled outliers",
        "",
        f"Mean average precision of `GESSVDD()` over ADBench sets and {N_SPLITS} splits, and its gain with labels; "
        "`python benchmarks/labels.py` writes this page and the picture. The strength of the labels was chosen by the "
        f"first {len(SETS)} sets.",
        "",
        f"| sets | setting | {' | '.join(heads)} | sets better, worse by more than 0.005 (10 labels) |",
        "|---|---|" + "---:|" * (len(heads) + 1),
    ]
    for names, title in ((SETS, f"the {len(SETS)}"), (OTHERS, f"{len(OTHERS)} others")):
        for setting in SETTINGS:
            values = of(results, setting, names)
            gains = values[:, 1:] - values[:, :1]
            cells = [f"{values[:, 0].mean():.3f}", *(f"{gain:+.3f}" for gain in gains.mean(axis=0))]
            changed = f"{(gains[:, -1] > 0.005).sum()}, {(gains[:, -1] < -0.005).sum()}"
            lines.append(f"| {title} | {setting} | {' | '.join(cells)} | {changed} |")
    lines += ["", "## Outliers of another kind than the labelled ones", ""]
    lines += ["Ten outliers of one cluster are labelled, and those of the other are looked for.", ""]
    lines += ["| setting | cases | without labels | 10 labels | cases better, worse by more than 0.005 | worst |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    for setting in SETTINGS:
        values = np.array(unlike[setting])
        gains = values[:, 1] - values[:, 0]
        changed = f"{(gains > 0.005).sum()}, {(gains < -0.005).sum()}"
        cells = f"{values[:, 0].mean():.3f} | {gains.mean():+.3f} | {changed} | {gains.min():+.3f}"
        lines.append(f"| {setting} | {len(values)} | {cells} |")
    for setting in SETTINGS:
        lines += ["", f"## {setting.capitalize()}", ""]
        lines += [f"| set | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
        for name in (*SETS, *OTHERS):
            lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in results[setting, name])} |")
    lines += ["", "![Average precision by the number of labels](labels.png)", ""]
    (RESULTS / "labels.md").write_text("\n".join(lines), encoding="utf-8")


def draw(results):
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    places = range(len(N_LABELS) + 1)
    for axis, setting in zip(axes, SETTINGS, strict=True):
        axis.plot(places, of(results, setting, (*SETS, *OTHERS)).T, color="0.8", linewidth=0.8)
        for names, color, label in ((SETS, "C0", "mean of 20 sets"), (OTHERS, "C1", "of 10 others")):
            mean = of(results, setting, names).mean(axis=0)
            axis.plot(places, mean, color=color, marker="o", linewidth=2.5, label=label)
        axis.set(title=setting, xlabel="labelled outliers", xticks=places, xticklabels=[0, *N_LABELS])
        axis.legend(loc="lower right")
    axes[0].set_ylabel("average precision")
    figure.savefig(RESULTS / "labels.png", dpi=110)


if __name__ == "__main__":
    main()
