"""Models by name or by directory.

Owns the choice between what is bundled and what lies on disk, and between PyTorch and ONNX Runtime,
of which only the one that is needed is imported.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from treewright.errors import MissingExtra, OptionError, Place, UnknownModel
from treewright.parser.parser import Parser
from treewright.scorer import DESCRIPTION_FILE, Scorer, kind_of

#: Where the bundled models lie, a directory each.
BUNDLED = Path(__file__).parents[1] / "models"
#: The models that an installation comes with.
NAMES = ("en",)


def load(
    model: str | os.PathLike[str], *, device: str = "cpu", threads: int | None = None
) -> Parser:
    """The parser of a bundled model (`"en"`) or of a model's directory.

    Args:
        model: a name or a path. A directory that is called like a bundled model is `./en`.
        device: where PyTorch is to work, as it names devices (`cpu`, `cuda`, `cuda:1`); exported
            models work on the CPU.
        threads: how many to use; as many as there are cores, by default. PyTorch's are those of the
            whole process.

    >>> load("en")("The dog barks.")[0].tree.brackets()  # doctest: +SKIP
    '(TOP (S (NP (DT The) (NN dog)) (VP (VBZ barks)) (. .)))'
    """
    if threads is not None and (type(threads) is not int or threads < 1):
        raise OptionError(f"threads is a whole number from 1, not {threads!r}")
    directory = find(model)
    return Parser(_scorer(directory, device, threads), threads=threads)


def find(model: str | os.PathLike[str]) -> Path:
    """The directory of a model."""
    name = os.fspath(model)
    if name in NAMES:
        directory = BUNDLED / name
        if not (directory / DESCRIPTION_FILE).is_file():
            message = f"the model {name!r} is not part of this installation: give the directory"
            raise UnknownModel(f"{message} of a model that you have trained or exported")
        return directory
    directory = Path(name)
    if name and directory.is_dir():
        return directory
    if name and directory.exists():
        raise UnknownModel("a model is a directory, not a file", Place(name))
    close = get_close_matches(name, NAMES, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    message = f"no model is called {name!r}, and there is no such directory"
    raise UnknownModel(f"{message} (bundled: {', '.join(NAMES)}){hint}")


def _scorer(directory: Path, device: str, threads: int | None) -> Scorer:
    if kind_of(directory) == "runtime":
        from treewright.runtime import load as load_runtime

        if device != "cpu":
            raise OptionError(f"an exported model works on the CPU, not on {device!r}")
        return load_runtime(directory, threads=threads)
    try:
        from treewright.model.checkpoint import load as load_checkpoint
    except ImportError as error:
        message = f"{directory} is a checkpoint, which needs PyTorch: {error}"
        advice = "pip install 'treewright[train]', or export the model to run without"
        raise MissingExtra(f"{message}; {advice}") from None
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise OptionError(f"PyTorch has no device {device!r} here: {reason}") from None
    if threads is not None:
        torch.set_num_threads(threads)  # of the whole process: PyTorch knows no other way
    return load_checkpoint(directory, device=device)
