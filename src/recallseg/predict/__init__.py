"""Using a model: open it, look at one photo or at many files, write masks, export it."""
