"""The detectors: GESSVDD, its family and MSSVDD, in PyOD's contract."""
