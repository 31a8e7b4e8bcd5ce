"""A result that is long in the making: written as `OUT.part`, with what is needed to go on with it.

Owns the two files and their promise. `OUT.part` holds whole batches of records; `OUT.part.json`,
its account, says how much of it counts, what had been read by then, and under which options. The
account is there before the part, and is renewed after every batch, when what it counts has been
written: however a run ends, a later one cuts off what lies behind and goes on. When all is done the
part becomes OUT, and the account goes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from treewright.errors import OutputError, Place, ResumeError
from treewright.files import atomic_write

_FORMAT = "treewright part"


class Partial:
    """The part of a result that is there; a context, which keeps the part if it is left early.

    `options` are what must be the same for a run to go on: names and values as JSON has them.
    """

    def __init__(self, out: str, options: Mapping[str, Any], *, resume: bool) -> None:
        self.out = Path(out).resolve()
        self.part = self.out.with_name(self.out.name + ".part")
        self._account = self.out.with_name(self.out.name + ".part.json")
        self._place = Place(str(self.part))
        self._options = dict(options)
        self.done = 0
        self.digest = ""
        self._bytes = 0
        self._pending: list[bytes] = []
        if not self.part.exists() and not self._account.exists():
            return
        if not resume:
            message = "is of a run that was broken off: --resume goes on with it, or remove it"
            raise ResumeError(message, self._place)
        self._read_account()

    def _read_account(self) -> None:
        try:
            account = json.loads(self._account.read_text("utf-8"))
            options = account["options"]
            self.done, self.digest = int(account["done"]), str(account["digest"])
            self._bytes = int(account["bytes"])
            size = self.part.stat().st_size if self.part.exists() else 0
        except (OSError, ValueError, KeyError, TypeError):
            message = "cannot be gone on with, for it or its account is damaged: remove both"
            raise ResumeError(message, self._place) from None
        for name in {**self._options, **options}:
            before, now = options.get(name), self._options.get(name)
            if before != now:
                message = f"was made with another {name} ({before}, now {now}): use the same"
                raise ResumeError(f"{message}, or remove it", self._place)
        if size < self._bytes:
            message = f"has {size:,} bytes of the {self._bytes:,} that were written: remove it"
            raise ResumeError(message, self._place)

    def __enter__(self) -> Partial:
        try:
            self._write_account()
            # Not buffered: what is written has been written, and a full disk is noticed at once.
            self._handle: FileIO = open(self.part, "r+b" if self.done else "wb", buffering=0)
            self._handle.truncate(self._bytes)
            self._handle.seek(self._bytes)
            if self.out.exists():
                self.part.chmod(self.out.stat().st_mode & 0o777)
        except OutputError as error:  # people know the result by its own name
            raise OutputError(error.message, Place(str(self.out))) from None
        except OSError as error:
            raise OutputError(error.strerror or str(error), Place(str(self.out))) from None
        return self

    def write(self, text: str) -> None:
        """Add whole records, to be written with the others of the batch."""
        self._pending.append(text.encode("utf-8", "surrogatepass"))

    def commit(self, done: int, digest: str) -> None:
        """Write what was added; it counts: so many records have been read, with this digest."""
        try:
            self._bytes += self._flush()
            self.done, self.digest = done, digest
            self._write_account()
        except OSError as error:
            raise OutputError(error.strerror or str(error), self._place) from None

    def _write_account(self) -> None:
        account = {
            "format": _FORMAT,
            "options": self._options,
            "done": self.done,
            "digest": self.digest,
            "bytes": self._bytes,
        }
        with atomic_write(self._account) as handle:
            json.dump(account, handle, ensure_ascii=False, indent=1)
            handle.write("\n")

    def _flush(self) -> int:
        data = b"".join(self._pending)
        self._pending.clear()
        left = memoryview(data)
        while left:
            left = left[self._handle.write(left) :]
        return len(data)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            with self._handle:
                if kind is None:
                    self._flush()
            if kind is None:
                self.part.replace(self.out)
                self._account.unlink(missing_ok=True)
            elif not self.done:
                self.part.unlink(missing_ok=True)
                self._account.unlink(missing_ok=True)
        except OSError as failure:
            raise OutputError(failure.strerror or str(failure), Place(str(self.out))) from None
