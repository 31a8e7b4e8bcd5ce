"""Training: trees in, a parser out.

`config` says what a run is told, `loop.train` does it. Importing this package imports nothing yet.
"""
