"""The engine block of treewright: decoders on plain buffers."""

def instruction_set() -> str:
    """The widest vector code this machine runs."""
