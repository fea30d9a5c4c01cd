"""The detectors of an experiment, from what a user writes."""
