"""A workspace: a folder with pipeline.toml, raw/, staged/ and output/."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping

from . import _releases, _stages
from ._command import call
from ._errors import Gap, NotFound, UsageError
from ._frames import polars
from ._releases import Release
from ._stages import Stage

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Run:
    """The result of a run."""

    # False if some of the input could not be read, or an endpoint failed; `status` lists what.
    complete: bool
    # One dictionary per recipe: `rows` of its candidate, what waits (`causes`), and what to do `next`.
    recipes: list[dict[str, Any]] = field(repr=False)

    def __repr__(self) -> str:
        rows = ", ".join(f"{made['recipe']}: {made['rows']}" for made in self.recipes)
        return f"Run({rows}{'' if self.complete else '; incomplete'})"


@dataclass(frozen=True)
class StageStatus:
    """The state of a stage."""

    recipe: str
    stage: str
    # `fresh`, `stale`, `missing`, …
    state: str
    # Why a run would make it again, such as `threshold 0.8 -> 0.85`; otherwise what it contains.
    why: str
    # Records that wait.
    held: int
    # What they wait for, and how to fix it.
    causes: list[Any] = field(repr=False)


@dataclass(frozen=True)
class Status:
    """What a run would make and why, what waits for whom, and what to do next."""

    stages: list[StageStatus]
    # The most useful next command, with `command`, `why` and what to do `first`.
    next: Any
    # Other notes: released rows that were changed since, dumps that changed.
    notes: list[Any] = field(repr=False)
    _tell: Callable[[], str] = field(repr=False, compare=False)

    @property
    def stale(self) -> list[StageStatus]:
        """The stages that a run would make."""
        return [stage for stage in self.stages if stage.state != "fresh"]

    def __str__(self) -> str:
        """What the command prints, now."""
        return self._tell()

    def frame(self) -> pl.DataFrame:
        """A frame with one row per stage."""
        rows = [(s.recipe, s.stage, s.state, s.why, s.held) for s in self.stages]
        pl = polars()
        return pl.DataFrame(rows, schema=["recipe", "stage", "state", "why", "held"], orient="row")


@dataclass(frozen=True)
class Explanation:
    """The history of a post, in every recipe that has it."""

    # One dictionary per recipe and record: `way` has a step for each stage, with outcome, reason and evidence.
    explained: list[dict[str, Any]]
    # Further records that match the words.
    also: list[dict[str, Any]]
    # Records that were withdrawn.
    withdrawn: list[dict[str, Any]]
    _tell: Callable[[], str] = field(repr=False, compare=False)

    def __str__(self) -> str:
        """What the command prints, now."""
        return self._tell()

    def way(self) -> pl.DataFrame:
        """What each stage did, one row per stage."""
        rows = []
        for found in self.explained:
            for passage in found["way"]:
                words = (passage.get(key) for key in ("stage", "outcome", "reason", "evidence", "into"))
                rows.append((found.get("recipe"), passage.get("id"), *words))
        names = ["recipe", "id", "stage", "outcome", "reason", "evidence", "into"]
        pl = polars()
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


class Workspace:
    """A workspace. `settings` overrides settings for the calls of this object, such as `{"dedup.threshold": 0.85}`;
    pipeline.toml is not changed.

    Every call runs the command, with the same locks and messages. Ctrl-C ends it within two seconds, and everything that
    was paid for is stored. Progress messages go to the logger `riddlemill`.
    """

    def __init__(self, path: str | os.PathLike[str] = ".", *, settings: Mapping[str, Any] | None = None) -> None:
        self.path = pathlib.Path(path).resolve()
        self.settings = dict(settings or {})
        if not (self.path / "pipeline.toml").is_file():
            raise UsageError(f"{self.path} has no pipeline.toml\n  hint: Workspace.init({str(path)!r}) creates one")

    def __repr__(self) -> str:
        return f"Workspace({str(self.path)!r})"

    @classmethod
    def init(cls, path: str | os.PathLike[str], *, empty: bool = False, benchmark: str | None = None) -> Workspace:
        """Creates a workspace: commented settings, raw/ and, unless `empty`, the sample; `benchmark` copies a built-in
        benchmark into it, to be changed."""
        args = ["init", os.fspath(path), "--json"]
        args += ["--empty"] if empty else []
        args += ["--benchmark", benchmark] if benchmark else []
        call(args)
        return cls(path)

    def call(self, *args: str, good: Iterable[int] = (0, 3)) -> str:
        """Runs any subcommand in this workspace and returns what it prints. Other exit codes than `good` raise an error."""
        return self._call(args, good)[1]

    def run(
        self,
        *recipes: str,
        start: str | None = None,
        to: str | None = None,
        only: str | None = None,
        force: bool = False,
        offline: bool = False,
        preview: bool = False,
        retry_failed: bool = False,
        yes: bool = False,
        threads: int | None = None,
    ) -> Run:
        """Makes the stages that are not fresh, then the candidates, of all recipes with a source or of those named.

        `start`, `to` and `only` name stages; `offline` sends nothing; `yes` spends money without asking, even if no cap is
        set. Raises `Busy` while another run, of any program, works on the recipe.
        """
        args = ["run", "--json", *_recipes(recipes)]
        for flag, value in {"--from": start, "--to": to, "--only": only, "--threads": threads}.items():
            args += [flag, str(value)] if value is not None else []
        flags = {"--force": force, "--offline": offline, "--preview": preview, "--retry-failed": retry_failed, "--yes": yes}
        args += [flag for flag, on in flags.items() if on]
        code, out = self._call(args, (0, 3))
        return Run(complete=code == 0, recipes=json.loads(out) if out.strip() else [])

    def status(self, *recipes: str) -> Status:
        """Which stages are fresh, which are not and why, and what waits for whom."""
        found = json.loads(self.call("status", "--json", *_recipes(recipes)))
        stages, notes, following = [], [], None
        for row in found:
            if "stage" in row and "state" in row:
                keys = ("recipe", "stage", "state", "why", "held", "causes")
                stages.append(StageStatus(**{key: row[key] for key in keys}))
            elif "next" in row:
                following = row["next"]
            else:
                notes.append(row)
        return Status(stages, following, notes, lambda: self.call("status", *_recipes(recipes)))

    def explain(self, post: str, *recipes: str, full: bool = False) -> Explanation:
        """The history of a post in every stage. The post is named by its id, the id of a released row, `SOURCE:LINE`, or a
        piece of its text. Raises `NotFound` if no post matches."""
        more = ["--full"] if full else []
        try:
            found = json.loads(self.call("explain", "--json", *_recipes(recipes), *more, "--", post))
        except Gap as gap:
            raise NotFound(gap.message) from None
        tell = lambda: self.call("explain", *_recipes(recipes), *more, "--", post)
        return Explanation(found["explained"], found["also"], found["withdrawn"], tell)

    def stage(self, name: str, recipe: str | None = None) -> Stage:
        """A stage that has been made, such as `stage("filter", "flub")`."""
        return _stages.find(self.path, recipe, name)

    def stages(self, recipe: str | None = None) -> list[Stage]:
        """The stages that have been made."""
        return [stage for stage in _stages.every(self.path) if recipe in (None, stage.recipe)]

    def release(self, recipe: str, version: str = "candidate") -> Release:
        """The candidate of a recipe, or one of its releases."""
        return _releases.find(self.path, recipe, version)

    def releases(self, recipe: str | None = None) -> list[Release]:
        """Candidates and releases."""
        return _releases.every(self.path, recipe)

    def audit(self, *recipes: str) -> Any:
        """Proves from the files alone that every record is accounted for; raises `Gap` if one is not."""
        return json.loads(self.call("audit", "--json", *_recipes(recipes)))

    def _call(self, args: Iterable[str], good: Iterable[int]) -> tuple[int, str]:
        verb, *rest = args
        settings = [word for key, value in self.settings.items() for word in ("--set", f"{key}={_toml(value)}")]
        return call([verb, "--workspace", str(self.path), *settings, *rest], good=tuple(good))


def _recipes(recipes: Iterable[str]) -> list[str]:
    return [word for recipe in recipes for word in ("--recipe", recipe)]


def _toml(value: Any) -> str:
    if isinstance(value, (bool, list, tuple)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)

