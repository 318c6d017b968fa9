"""The parts of a job: a plan that every task is given, and phases of tasks and steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

# A lane, and what goes there.
Block = tuple[int, bytes]

STAGES = ["import", "clean", "anonymise", "filter", "dedup"]


class Dump(NamedTuple):
    """A file of a source."""

    source: str
    # Its name in the ledger.
    file: str
    # Where it is, by fsspec.
    place: str
    bytes: int
    # What begins where it may be cut: a line, a member or a record.
    cut: str | None


class Piece(NamedTuple):
    """Bytes of a dump, by its number."""

    dump: int
    offset: int
    bytes: int
    # Lines before it.
    lines: int


@dataclass(frozen=True)
class Plan:
    """What a task needs to know; small, and the same for all."""

    recipe: str
    # A folder that all machines see, by fsspec: /mnt/x, s3://bucket/x, ….
    work: str
    dumps: tuple[Dump, ...]
    # Of all dumps, in order: what a task imports.
    pieces: tuple[Piece, ...]
    # Of each chunk, in order: the parts of pieces that it is made of, by the piece and their number there.
    chunks: tuple[tuple[tuple[int, int], ...], ...]
    # Settings of dedup.
    dedup: tuple[tuple[str, Any], ...]
    # Lanes of keys.
    lanes: int
    rounds: int
    split: int
    # Settings, salt and lists of the workspace, by the digest of their archive.
    shipped: str
    # Options of fsspec's file system, as JSON.
    storage: str = "{}"
    share: str = "1/1"


Task = Callable[[Plan, int], Iterator[Block]]
Step = Callable[[Plan, int, Sequence[bytes]], Iterator[Block]]


@dataclass(frozen=True)
class Phase:
    """Tasks, and the steps that process their blocks. The result of the last step is returned to the driver."""

    name: str
    tasks: int
    first: str
    # Names of steps, and how many lanes each of them has.
    steps: tuple[tuple[str, int], ...] = ()


class Engine(Protocol):
    """An engine, which runs a phase and returns the blocks of its last step."""

    def run(self, plan: Plan, phase: Phase) -> Iterable[bytes]: ...
