"""``python -m pyod_gessvdd`` is the command ``gessvdd``."""

from __future__ import annotations

from pyod_gessvdd.cli import main

if __name__ == "__main__":
    main(prog_name="gessvdd")
