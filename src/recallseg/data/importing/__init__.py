"""Datasets of other tools, turned into recallseg's folders: one file for each format."""
