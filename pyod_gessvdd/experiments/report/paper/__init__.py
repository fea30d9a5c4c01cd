"""The report of the experiments of the GESSVDD paper."""
