"""Every kernel keeps the host's contract, with its default parameters and with others."""

import pytest

from pyod_gessvdd.checks import check_kernel
from pyod_gessvdd_kernels import RFF, Gower, LaplacianRFF

KERNELS = {
    "rff": RFF,
    "rff narrow": RFF(gamma="scale"),
    "rff not orthogonal": RFF(gamma=0.5, orthogonal=False, n_features=400),
    "rff_laplacian": LaplacianRFF,
    "gower": Gower,
    "gower with categories": Gower(categorical=[0]),
    "gower on landmarks": Gower(approximation="nystroem", n_landmarks=20),
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{name}-{check.__name__}")
        for name, kernel in KERNELS.items()
        for check in check_kernel(kernel)
    ],
)
def test_kernel_keeps_its_contract(check):
    check()
