"""The slow, obvious formulas of the paper: dense N × N matrices, explicit inverses, loops.

They keep the paper's orientation: X is (D, N), its columns are the samples. The package has the samples in rows, so the
tests hand over ``Phi.T``. Nothing in here imports from the package.
"""
