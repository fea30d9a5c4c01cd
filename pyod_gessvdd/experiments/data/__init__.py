"""The rows of an experiment: bundled sets, files, folders, collections, arrays and the sets of the paper."""
