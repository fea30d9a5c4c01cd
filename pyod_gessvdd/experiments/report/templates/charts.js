"use strict";
// Drawings of one data set, as wide as the page gives them room: ROC, precision-recall, score distributions.
const charts = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const node = (tag, attributes, ...children) => {
    const made = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const text = (words, x, y, attributes = {}) => node("text", { x, y, ...attributes }, words);
  const path = (points, close = "") => `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}${close}`;
  const frame = (width, height, label, ...children) =>
    node("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart" }, ...children);

  // A square from 0 to 1 in both directions.
  const square = (box, title, xLabel, yLabel, label, baseline, curves) => {
    const width = Math.min(box.clientWidth, 380);
    const [left, top, right, bottom] = [46, 28, 10, 42];
    const side = width - left - right;
    const height = top + side + bottom;
    const x = (value) => left + value * side;
    const y = (value) => top + (1 - value) * side;
    const parts = [text(title, left + side / 2, 16, { class: "title", "text-anchor": "middle" })];
    for (const tick of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
      parts.push(
        node("path", { d: `M${x(tick)} ${top}V${top + side}M${left} ${y(tick)}H${left + side}`, class: "grid" }),
        text(tick.toFixed(1), x(tick), top + side + 16, { "text-anchor": "middle" }),
        text(tick.toFixed(1), left - 7, y(tick) + 4, { "text-anchor": "end" }),
      );
    }
    parts.push(
      text(xLabel, left + side / 2, height - 6, { "text-anchor": "middle", class: "label" }),
      text(yLabel, 0, 0, { "text-anchor": "middle", class: "label", transform: `translate(11 ${top + side / 2}) rotate(-90)` }),
      node("path", { d: path(baseline.map(([a, b]) => [x(a), y(b)])), class: "baseline" }),
    );
    for (const { series, points } of curves) {
      parts.push(node("path", { d: path(points.map(([a, b]) => [x(a), y(b)])), class: `curve line-${series}`, "data-series": series }));
    }
    box.replaceChildren(frame(width, height, label, ...parts));
  };

  // A ridge per detector: normal rows and outliers over one axis.
  const ridges = (box, panel, { low, high, bins }) => {
    const width = Math.min(box.clientWidth, 760);
    const narrow = width < 520;
    const [left, top, right, bottom, row] = [narrow ? 104 : 190, 26, 58, 44, 34];
    const inner = width - left - right;
    const height = top + row * panel.detectors.length + bottom;
    const x = (value) => left + ((value - low) / (high - low)) * inner;
    const floor = top + row * panel.detectors.length;
    const parts = [text("ROC-AUC", width, 14, { "text-anchor": "end", class: "quiet" })];
    for (const tick of narrow ? [-10, 0, 10, 1000] : [-10, -1, 0, 1, 10, 100, 1000]) {
      const at = x(Math.asinh(tick));
      parts.push(
        node("path", { d: `M${at} ${top - 6}V${floor}`, class: "grid" }),
        text(tick.toLocaleString("en").replace("-", "−"), at, floor + 16, { "text-anchor": "middle" }),
      );
    }
    parts.push(
      text(narrow ? "quartile ranges from the normal median" : "distance from the normal rows’ median, in their quartile ranges",
        left + inner / 2, height - 6, { "text-anchor": "middle", class: "label" }),
    );
    panel.detectors.forEach((detector, i) => {
      const base = top + row * (i + 1) - 4;
      const longest = narrow ? 12 : 27;
      const name = detector.name.length > longest ? `${detector.name.slice(0, longest - 1)}…` : detector.name;
      parts.push(
        text(name, left - 10, base - 3, { "text-anchor": "end", class: "label" }),
        text(detector.roc_auc === null ? "–" : detector.roc_auc.toFixed(3), width, base - 3, { "text-anchor": "end" }),
        node("path", { d: `M${left} ${base}H${left + inner}`, class: "grid" }),
      );
      for (const kind of ["normal", "outliers"]) {
        const heights = detector[kind];
        const first = heights.findIndex((value) => value > 2);
        if (first < 0) continue;
        const last = heights.length - 1 - [...heights].reverse().findIndex((value) => value > 2);
        const points = [];
        for (let bin = first; bin <= last; bin++) points.push([x(low + ((bin + 0.5) * (high - low)) / bins), base - (heights[bin] / 1000) * (row - 7)]);
        const outline = [[points[0][0], base], ...points, [points.at(-1)[0], base]];
        parts.push(node("path", { d: path(outline, "Z"), class: `ridge ${kind}` }));
      }
    });
    box.replaceChildren(frame(width, height, `Distributions of scores on ${panel.dataset}`, ...parts));
  };

  const legend = (box, panel) => {
    const share = ((100 * panel.n_outliers) / panel.n_test).toPrecision(3);
    box.querySelector("p").textContent = panel.detectors.length
      ? `${panel.dataset}: ${panel.n_outliers} outliers among ${panel.n_test} test rows (${Number(share)} %).`
      : `${panel.dataset}: no detector finished it.`;
    box.querySelector("ul").replaceChildren(...panel.detectors.map((detector) => {
      const button = document.createElement("button");
      const span = (name, words) => Object.assign(document.createElement("span"), { className: name, textContent: words });
      const number = (value) => span("value", value === null ? "–" : value.toFixed(3));
      Object.assign(button, { type: "button", title: detector.name });
      button.dataset.for = detector.series;
      const sample = node("svg", { viewBox: "0 0 26 8", width: 26, height: 8, class: "sample", "aria-hidden": "true" },
        node("path", { d: "M0 4H26", class: `line-${detector.series}` }));
      button.append(sample, span("name", detector.name), number(detector.roc_auc), number(detector.average_precision));
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
  };

  const drawPanel = (box, panel, axes) => {
    const share = panel.n_outliers / panel.n_test;
    const curves = (kind) => panel.detectors.map((detector) => ({
      series: detector.series,
      points: detector[kind].map((value, i) => [axes[kind][i], value / 1000]),
    }));
    legend(box.querySelector(".legend"), panel);
    for (const part of box.querySelectorAll(".drawing")) part.replaceChildren();
    if (!panel.detectors.length) return;
    square(box.querySelector(".roc"), "ROC", "false-positive rate", "true-positive rate", `ROC curves of ${panel.dataset}`, [[0, 0], [1, 1]], curves("roc"));
    square(box.querySelector(".pr"), "Precision and recall", "recall", "precision", `Precision-recall curves of ${panel.dataset}`, [[0, share], [1, share]], curves("pr"));
    ridges(box.querySelector(".scores"), panel, axes.scores);
  };
  return { drawPanel };
})();
