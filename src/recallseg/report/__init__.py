"""Run folders as people read them; nothing here imports torch."""
