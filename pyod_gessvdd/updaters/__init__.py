"""How Q moves: the paper's three sub-algorithms and later ones, one per file."""
