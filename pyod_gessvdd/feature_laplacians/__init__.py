"""Graphs over the columns of the data, which make a projection smooth: correlated columns, neighbouring ones, given."""
