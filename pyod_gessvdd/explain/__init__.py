"""Explanations of scores and pictures of a fitted detector."""
