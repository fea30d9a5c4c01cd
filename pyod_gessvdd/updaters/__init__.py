"""How Q moves: the three sub-algorithms of the paper, one per file."""
