"""Export: a trained checkpoint becomes a runtime model, which needs no PyTorch.

The door is `write.export`. Importing this package imports nothing yet.
"""
