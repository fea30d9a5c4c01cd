"""Data to features: the linear map and the NPT map over pairwise kernels."""
