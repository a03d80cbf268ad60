"""Run folders → tables, plots, pictures, one self-contained page. Nothing here needs torch."""
