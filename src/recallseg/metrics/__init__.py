"""One confusion matrix; everything is derived from it."""
