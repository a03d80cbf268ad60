"""Semantic segmentation that keeps learning new classes without keeping the old images."""

__version__ = "0.1.0"
