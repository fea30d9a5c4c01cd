"""ω = Σ_mn Tr(Q_m Φ_mᵀ M_mn Φ_n Q_nᵀ) with explicit N × N matrices, term by term."""

import numpy as np


def penalty(Q, Phi, M):
    """The sum over all pairs of modalities; ``M[m][n]`` is None where a pair does not count."""
    total = 0.0
    for m, q in enumerate(Q):
        for n, p in enumerate(Q):
            if M[m][n] is not None:
                total += np.trace(q @ Phi[m].T @ M[m][n] @ Phi[n] @ p.T)
    return total


def differences(function, Q, h=1e-6):
    """The gradient of ``function(Q)`` in every entry of every Q_m."""
    gradients = []
    for m, q in enumerate(Q):
        gradient = np.zeros_like(q)
        for place in np.ndindex(q.shape):
            step = np.zeros_like(q)
            step[place] = h
            ahead, behind = ([*Q[:m], q + s, *Q[m + 1 :]] for s in (step, -step))
            gradient[place] = (function(ahead) - function(behind)) / (2 * h)
        gradients.append(gradient)
    return gradients
