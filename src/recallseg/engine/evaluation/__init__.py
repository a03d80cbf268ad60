"""Measuring a model on a split."""
