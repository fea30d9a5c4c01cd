"""Every installed component, ours and everybody else's, against every check of its kind."""

from __future__ import annotations

import pytest

from pyod_gessvdd.checks import check_component
from pyod_gessvdd.components.registry import registry
from pyod_gessvdd.components.specs import resolve

INSTALLED = [
    pytest.param(entry, check, id=f"{entry.kind}-{entry.component.name}-{check.__name__}")
    for entry in registry().registrations
    for check in check_component(entry.kind, entry.component)
]

#: What is not registered by a name of its own, or has another way to work than by default.
SPECS = {
    "laplacian": ["knn(n_neighbors=3)", "knn(max_exact=50, n_queries=30)", "0.7*knn + 0.3*pca", "auto*(knn + within)"],
    "updater": ["gradient(psi=3, beta=0.1)", "spectral_regression(regularization=0.1)", "newton(max_steps=5)"],
    "qp_backend": ["frank_wolfe(compiled=False)"],
    "kernel": [
        "rbf(gamma='scale', energy=1.0)",
        "rbf(gamma='median', center=False)",
        "rbf(gamma='scale', approximation='nystroem', n_landmarks=30)",
        "rbf(gamma='scale', approximation='nystroem', n_landmarks=10, landmarks='kmeans')",
        "polynomial(degree=2)",
    ],
}

OTHERS = [
    pytest.param(check, id=f"{kind}-{spec}-{check.__name__}")
    for kind, specs in SPECS.items()
    for spec in specs
    for check in check_component(kind, resolve(kind, spec))
]


#: What does not apply to our own components. A check must not stop to apply unseen.
NO_GRAPH = {
    "shape",
    "is_real_and_finite",
    "is_symmetric",
    "is_positive_semi_definite",
    "rows_sum_to_zero",
    "sees_the_scatter",
    "is_sparse",
    "follows_the_samples",
    "takes_any_random_state",
    "sample_weight",
    "in_a_sum",
    "on_one_column",
    "on_duplicates",
    "on_a_constant_column",
    "on_few_samples",
    "on_wide_data",
}
NOT_APPLICABLE = {
    **{("none", f"check_laplacian_{check}"): "it has no graph" for check in NO_GRAPH},
    ("identity", "check_laplacian_rows_sum_to_zero"): "it declares kills_constants = False",
    ("spectral_regression", "check_updater_without_a_graph"): "it declares needs_graph = True",
    ("newton_ssvdd", "check_updater_moves_the_criterion_as_asked"): "it declares improves_criterion = None",
    ("interior_point", "check_qp_backend_warm_start"): "it declares supports_warm_start = False",
    ("libsvm", "check_qp_backend_warm_start"): "it declares supports_warm_start = False",
    ("sigmoid", "check_kernel_inner_products"): "it declares positive_definite = False",
    ("sigmoid", "check_kernel_residual_completes_the_length"): "it declares positive_definite = False",
    **{
        (name, f"check_kernel_{check}"): reason
        for name, reason in (
            ("linear", "it has no gram(X, Y)"),
            ("precomputed", "its input is a kernel matrix"),
        )
        for check in ("gram", "inner_products", "residual_completes_the_length")
    },
    ("linear", "check_kernel_learns_by_moments"): "it declares learns_by_moments = False",
    ("precomputed", "check_kernel_learns_by_moments"): "it declares learns_by_moments = False",
    **{
        (row.component.name, "check_kernel_is_identity"): "it declares is_identity = False"
        for row in registry().registrations
        if row.kind == "kernel" and row.distribution == "pyod-gessvdd" and row.component.name != "linear"
    },
}


@pytest.mark.parametrize(("entry", "check"), INSTALLED)
def test_an_installed_component_keeps_its_contract(entry, check):
    reason = check()
    if entry.distribution == "pyod-gessvdd":
        expected = NOT_APPLICABLE.get((entry.component.name, check.__name__))
        assert reason is expected is None or reason.startswith(expected)


@pytest.mark.parametrize("check", OTHERS)
def test_a_component_with_other_parameters_keeps_its_contract(check):
    check()
