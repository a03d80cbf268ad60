"""Sets of training samples, where their features come from, and the streams they are drawn in."""
