"""A job: its phases in their order, and what is done where the workspace is, before and after them."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pathlib
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .._command import call
from . import sizes
from ._calls import DONE
from ._files import check_place, fetched, is_local, system_of, write
from ._outlook import outlook, posts_of
from ._pieces import guesses
from ._plan import STAGES, Dump, Engine, Phase, Piece, Plan
from ._rows import lanes_of_copies


class Job:
    """The offline stages of a recipe, up to dedup, and their folders in `staged/` of the workspace."""

    def __init__(
        self,
        workspace: str | os.PathLike[str],
        recipe: str,
        work: str,
        engine: Engine,
        *,
        dumps: str | None = None,
        piece: int | None = None,
        lanes: int | None = None,
        split: int = 100_000,
        rounds: int = 1,
        storage: dict[str, Any] | None = None,
    ) -> None:
        """`work` is a folder for intermediate results, which may be deleted afterwards; `dumps` is the workspace's folder
        as other machines see it. If a dump can be cut, a task imports `piece` bytes of it, by default 128 MiB. `lanes` is
        the number of lanes of keys, by default one for 65,536 rows; more than `split` rows under one key are split;
        `rounds` is the number of shares in which keys are processed."""
        self.workspace = pathlib.Path(workspace).resolve()
        self.engine = engine
        self.base = (dumps or str(self.workspace)).rstrip("/")
        self.lanes = lanes
        self.piece = piece or sizes.PIECE
        self.plan = Plan(
            recipe, f"{work.rstrip('/')}/{recipe}", (), (), (), (), 1, rounds, split, "", json.dumps(storage or {})
        )

    def run(self, tell: Callable[[str], None] = lambda words: None) -> None:
        """Makes the stages; `tell` is called with what one machine would take, and for each phase when it is done."""
        plan = self._begin(tell)
        steps = (("merge_census", len(plan.dumps)), ("merge_names", 1))
        counted = self._phase(plan, "census", len(plan.pieces), "take_census", *steps, tell=tell)
        plan = replace(plan, pieces=tuple(sorted(Piece(**one) for one in counted)))
        steps = (("find_repeats", plan.lanes), ("keep_repeats", len(plan.pieces)))
        imported = self._phase(plan, "import", len(plan.pieces), "import_piece", *steps, tell=tell)
        plan = replace(plan, chunks=_chunks({one["piece"]: one["records"] for one in imported}))
        count = len(plan.chunks)
        steps = (("find_copies", lanes_of_copies(plan)), ("keep_copies", count))
        made = self._phase(plan, "rows", count, "make_rows", *steps, tell=tell)
        rows = sum(one.get("rows", 0) for one in made)
        copies = sum(one.get("copies", 0) for one in made)
        plan = replace(plan, lanes=self.lanes or max(1, -(-rows // sizes.LANE)))
        steps = (("add_counts", -(-count // sizes.ADDED)), ("keep_counts", 1))
        self._phase(plan, "counts", count, "count_tokens", *steps, tell=tell)
        if rows - copies > plan.split:
            self._phase(plan, "heavy", count, "sample_keys", ("find_heavy", plan.lanes), ("keep_heavy", 1), tell=tell)
        for n in range(1, plan.rounds + 1):
            share = replace(plan, share=f"{n}/{plan.rounds}")
            met = (("meet", plan.lanes), ("with_first", count), ("compare_pairs", count))
            self._phase(share, f"pairs {share.share}", count, "cut_keys", *met, tell=tell)
        self._phase(plan, "resolve", 1, "resolve", ("with_kept", count), ("keep_decided", count), tell=tell)
        self._phase(plan, "book", count, "book", ("sort_pairs", plan.lanes), tell=tell)
        self._assemble(plan)

    def _phase(
        self, plan: Plan, name: str, tasks: int, first: str, *steps: tuple[str, int], tell: Callable[[str], None]
    ) -> list[dict[str, Any]]:
        counts = [json.loads(block) for block in self.engine.run(plan, Phase(name, tasks, first, steps))]
        tell(f"{plan.recipe}/{name}")
        return counts

    def _call(self, *args: str) -> str:
        return call([*args, "--workspace", str(self.workspace)], good=DONE)[1]

    def _begin(self, tell: Callable[[str], None]) -> Plan:
        for name, place in (("--work", self.plan.work), ("--dumps", self.base)):
            check_place(name, place)
        recipe = ["--recipe", self.plan.recipe]
        settings = {one["key"]: one["value"] for one in json.loads(self._call("config", "--json"))["settings"]}
        dedup = {name: _setting(settings, self.plan.recipe, name) for name in DEDUP}
        listed = [json.loads(line) for line in self._call("apply", "import", "--list", *recipe).splitlines()]
        places = [f"{self.base}/{os.path.relpath(dump['path'], self.workspace)}" for dump in listed]
        dumps = tuple(
            Dump(dump["source"], dump["file"], place, dump["bytes"], dump["cut"]) for dump, place in zip(listed, places)
        )
        posts = posts_of((dump, one["path"]) for dump, one in zip(dumps, listed))
        tell(outlook(self.plan.recipe, posts))
        with tempfile.NamedTemporaryFile(prefix="riddlemill-") as empty:
            # Draws the salt where this is the workspace's first run.
            self._call("apply", "census", "--kind", "puzzles", empty.name)
        archive = self._archive(settings)
        shipped = hashlib.sha256(archive).hexdigest()
        plan = replace(
            self.plan,
            dumps=dumps,
            pieces=guesses(dumps, self.piece),
            dedup=tuple(dedup.items()),
            lanes=max(1, -(-sum(dump.bytes for dump in dumps) // sizes.SHARE)),
            shipped=shipped,
        )
        system, folder = system_of(plan)
        if system.exists(folder):
            # Of a run before, whose chunks may be others.
            system.rm(folder, recursive=True)
        write(plan, f"shipped/{shipped}", archive)
        return plan

    def _archive(self, settings: dict[str, Any]) -> bytes:
        """What a task needs of the workspace. The same bytes for the same files."""
        lists = [value for key, value in settings.items() if key.rsplit(".", 1)[-1] in ("policy", "common_words")]
        wanted = {name for one in lists if isinstance(one, list) for name in one if name != "builtin"}
        files = {name: self.workspace / name for name in ["pipeline.toml", "raw/salt", *sorted(wanted)]}
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as tar:
            for name in ["raw/withdrawn.jsonl", "benchmarks", "profiles"]:
                if (self.workspace / name).exists():
                    tar.add(self.workspace / name, name)
            for name, path in files.items():
                data = path.read_bytes()
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        return made.getvalue()

    def _assemble(self, plan: Plan) -> None:
        """Writes the stages where the workspace is. They are read from the folder itself where it is on a disk."""
        system, folder = system_of(plan)
        with (
            fetched(plan, f"{plan.work}/names/all") as names,
            tempfile.TemporaryDirectory(prefix="riddlemill-") as scratch,
        ):
            for stage in STAGES:
                tables = [stage, "pairs"] if stage == "dedup" else [stage]
                local = {table: pathlib.Path(folder) / table for table in tables}
                if not is_local(system):
                    for table in tables:
                        local[table] = pathlib.Path(scratch) / table
                        local[table].mkdir()
                        if system.exists(f"{folder}/{table}"):
                            system.get(f"{folder}/{table}/", str(local[table]) + "/", recursive=True)
                given = ["--names", names] if stage == "import" else []
                if stage == "dedup" and local["pairs"].is_dir():
                    given = ["--pairs", str(local["pairs"])]
                self._call("assemble", "--recipe", plan.recipe, *given, stage, str(local[stage]))


def _chunks(records: dict[int, int]) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The records of pieces as chunks: small ones are combined, in order. Without posts there is one chunk."""
    chunks: list[list[tuple[int, int]]] = [[]]
    size = 0
    for piece, count in sorted(records.items()):
        for number in range(-(-count // sizes.CHUNK)):
            own = min(sizes.CHUNK, count - number * sizes.CHUNK)
            if size + own > sizes.CHUNK:
                chunks.append([])
                size = 0
            chunks[-1].append((piece, number))
            size += own
    return tuple(tuple(chunk) for chunk in chunks)


DEDUP = ["metric", "threshold", "margin", "keep", "normalize", "language"]


def _setting(settings: dict[str, Any], recipe: str, name: str) -> Any:
    """A setting of dedup: the recipe's own, or the common one."""
    key = "text.language" if name == "language" else f"dedup.{name}"
    return settings.get(f"recipe.{recipe}.{key}", settings.get(key))
