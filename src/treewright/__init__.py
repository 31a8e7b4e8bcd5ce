"""treewright: a constituency parser whose trees obey a grammar.

>>> from treewright import Tree
>>> Tree.from_brackets("(S (NP (PRP I)) (VP (VBP run)))").words()
('I', 'run')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treewright.errors import TreewrightError
    from treewright.evaluation import evaluate
    from treewright.grammar import Grammar
    from treewright.parser import load
    from treewright.trees import Tree, binarize, normalize, read_trees, unbinarize

__version__ = "0.1.0"

# Public names and the modules that own them: imported at first use, so that `import treewright`
# costs next to nothing and reading trees never waits for numpy.
_OWNERS = {
    "Grammar": "treewright.grammar",
    "Tree": "treewright.trees",
    "TreewrightError": "treewright.errors",
    "binarize": "treewright.trees",
    "evaluate": "treewright.evaluation",
    "load": "treewright.parser",
    "normalize": "treewright.trees",
    "read_trees": "treewright.trees",
    "unbinarize": "treewright.trees",
}

__all__ = [
    "Grammar",
    "Tree",
    "TreewrightError",
    "__version__",
    "binarize",
    "evaluate",
    "load",
    "normalize",
    "read_trees",
    "unbinarize",
]


def __getattr__(name: str) -> object:
    if name not in _OWNERS:
        raise AttributeError(f"module 'treewright' has no attribute {name!r}")
    value = getattr(import_module(_OWNERS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
