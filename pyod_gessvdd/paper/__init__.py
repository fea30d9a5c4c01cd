"""The experiments of the GESSVDD paper, repeated: ``gessvdd bench paper``.

One noun of the protocol is one file: the data sets, the noise, the methods, the trial (split, search, test), the store
of results, the published figures, the tests between methods, the report and the sensitivity plots.
"""
