"""The graphs L_x of the paper, one per file, and the weighted sum of several."""
