"""The training loop and its optimisers."""
