"""The description in the whole of a kernel's space: no subspace and no updates, but one Cholesky factor.

With L_x = I and every direction kept, S_x = Φᵀ diag(w) Φ, and a row's squared length in the metric (S_x + λI)⁻¹, the
part outside the span of the training rows included, is

    ‖z(x)‖² = φ(x)ᵀ(S_x + λI)⁻¹φ(x) = [k(x, x) − k_xᵀ W A⁻¹ W k_x] / λ,      A = W K W + λI,  W = diag(√w),

without an eigendecomposition. Inner products have the same form. So the SVDD of the rows z_i, with its centre
u = Σ α_j z_j and its radius, is solved from the N × N matrix W⁻¹(I − λA⁻¹)W⁻¹, and with b = W A⁻¹ W⁻¹ α

    ‖z(x) − u‖² = ‖z(x)‖² − 2 k_xᵀ b + ‖u‖².

With one copy of row i left out, p = ‖z_i‖² would be p/(1 − p) (Sherman and Morrison): the training rows' scores as if
left out are exact, up to the centre. Without a graph nothing is whitened and ‖z(x)‖² = k(x, x): this is SVDD.

Many rows share the span of m landmarks (Nyström): φ(x) = C⁻¹k_m(x) with CCᵀ = K_m, and what the landmarks miss of a row
lies in a direction of its own, whose scatter is λ alone.
"""

from __future__ import annotations

from pyod_gessvdd.whole_space.description import WholeSpace
from pyod_gessvdd.whole_space.learning import Learnt, learn, svdd

__all__ = ["Learnt", "WholeSpace", "learn", "svdd"]
