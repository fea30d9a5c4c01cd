"""How rows become training and test rows."""
