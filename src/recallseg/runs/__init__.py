"""The run folder, which is the learner: every path, every record. Nothing here needs torch."""
