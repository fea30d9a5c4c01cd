"""More graphs for GESSVDD, as a plugin: install the package, then ``GESSVDD(laplacian="heat")``."""

from __future__ import annotations

from pyod_gessvdd_graphs.epsilon import Epsilon
from pyod_gessvdd_graphs.farthest import Farthest
from pyod_gessvdd_graphs.heat import Heat
from pyod_gessvdd_graphs.lle import LLE
from pyod_gessvdd_graphs.mst import MST
from pyod_gessvdd_graphs.mutual_knn import MutualKNN
from pyod_gessvdd_graphs.self_tuning import SelfTuning
from pyod_gessvdd_graphs.shared_nn import SharedNN

__all__ = ["LLE", "MST", "Epsilon", "Farthest", "Heat", "MutualKNN", "SelfTuning", "SharedNN"]
