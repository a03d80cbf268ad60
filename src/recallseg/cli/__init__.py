"""The `recallseg` command: heavy imports stay inside the commands that need them."""
