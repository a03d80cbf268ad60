"""Where the runs of a table are done: in this process, in several, on Ray or on SLURM."""
