"""Where a run writes: the model's directory OUT, and OUT.resume beside it.

Owns the names, and the refusal to write over what is not the run's own.

    OUT              the best model so far, and in OUT/run the record of the run
    OUT.resume       state.pt, all that the run must know to go on; last, the model at its end;
                     lock, held by the process that trains
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from treewright.errors import CheckpointError, OutputError, Place, SettingError
from treewright.files import recover_directory
from treewright.training.config import TrainConfig

# What a run that was killed before it wrote its first state leaves in OUT
_BEGUN = frozenset({"run"})
# What the system says where a file system has no locks
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP})


class Folders:
    """The places of a run.

    >>> Folders("models/a").state.as_posix()
    'models/a.resume/state.pt'
    """

    def __init__(self, out: str) -> None:
        self.out = Path(out)
        if self.out.is_symlink():  # what is renamed into place must not replace the link
            self.out = self.out.resolve()
        self.aside = self.out.with_name(f"{self.out.resolve().name}.resume")
        self.state = self.aside / "state.pt"
        self.last = self.aside / "last"

    @classmethod
    def of(cls, config: TrainConfig, *, start: str | None = None, resume: bool) -> Folders:
        """The places of a run, made sure of before anything is read.

        `start` is the model to go on from. A run that goes on finds its own directory there;
        another one must find nothing.
        """
        place = Place(config.out)
        out = Path(config.out)
        if out.exists() and not out.is_dir():
            raise SettingError("'out' is a file: name a directory", place)
        if Path.cwd().is_relative_to(out.resolve()):
            raise SettingError("'out' holds the directory you are in: name a new one", place)
        if start is not None and out.resolve() == Path(start).resolve():
            message = "'out' is the model to go on from, which is to stay: name another directory"
            raise SettingError(message, place)
        folders = cls(config.out)
        if not resume:
            folders._refuse_to_write_over(place)
        elif not folders.state.exists():
            message = "is missing: there is no run to go on with; begin it without --resume"
            raise CheckpointError(message, Place(str(folders.state)))
        return folders

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out within the block, and put back what a kill may have left aside."""
        lock = FileLock(self.aside / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            message = "'out' is being trained by another process"
            raise SettingError(message, Place(str(self.out))) from None
        except NotImplementedError:
            pass  # a file system without locks, as some of clusters are: nobody can be kept out
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                reason = error.strerror or str(error)
                raise OutputError(reason, Place(str(self.out))) from None
        try:
            recover_directory(self.out)
            yield
        finally:
            lock.release()

    def _refuse_to_write_over(self, place: Place) -> None:
        if self.state.exists():
            message = "'out' holds a run: go on with --resume, or name another directory"
            raise SettingError(f"{message} (or delete it, and {self.aside})", place)
        if self.out.is_dir() and any(entry.name not in _BEGUN for entry in self.out.iterdir()):
            message = "'out' is not empty, and what it holds is no run that could be resumed"
            raise SettingError(f"{message}: name another directory", place)
