"""When Frank–Wolfe and its active set stop: the constants that the NumPy and the compiled version share."""

from __future__ import annotations

#: The gap at which rounding takes over, relative to the primal value.
ROUNDING = 1e-15
#: This many passes with neither a gain beyond rounding nor a gap halved end the descent.
STALLED = 3
#: A step of the active set whose predicted decrease is below this share of the problem's scale changes nothing. Far
#: below rounding: the gap is linear in the distance to the optimum where the objective is quadratic.
NEGLIGIBLE = 1e-24
#: A step that no weight blocks is a Newton step on a quadratic; this many in a row refine it to rounding.
FULL_STEPS = 3
