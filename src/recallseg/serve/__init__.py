"""The web page and the HTTP API over a learned model."""
