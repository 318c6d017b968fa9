"""Calls of the command on lines, and of the same Rust on columns."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from riddlemill_text import PartedDedup

from .._command import command
from .._errors import raised
from ._files import workspace_of
from ._plan import Plan

# Exit code 3: done, and some lines could not be read. Import has them in its ledger.
DONE = (0, 3)


def environment() -> dict[str, str]:
    """The environment of a command that a task calls: one thread by default, because an engine runs as many tasks as
    there are cores."""
    threads = os.environ.get("RIDDLEMILL_THREADS", "1")
    return {**os.environ, "RIDDLEMILL_THREADS": threads, "RAYON_NUM_THREADS": threads}


def apply(plan: Plan, args: Sequence[str], lines: bytes) -> bytes:
    """The output of `riddlemill apply` for the lines, with the settings of the recipe."""
    done = subprocess.run(
        [command(), "apply", *args, "--recipe", plan.recipe, "--workspace", workspace_of(plan)],
        input=lines,
        capture_output=True,
        env=environment(),
    )
    if done.returncode not in DONE:
        raise raised(done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout


@functools.cache
def dedup_of(settings: tuple[tuple[str, Any], ...]) -> PartedDedup:
    """Dedup with these settings, created once per process."""
    os.environ.setdefault("RIDDLEMILL_THREADS", "1")
    values = dict(settings)
    one_metric = values["metric"] not in ("default", "exact")
    return PartedDedup(
        metric=values["metric"],
        threshold=values["threshold"] if one_metric else None,
        margin=values.get("margin") or 0.0,
        keep=values["keep"],
        normalize=bool(values["normalize"]),
        # Otherwise each row has its own.
        language=None if values.get("language") == "auto" else values.get("language"),
    )
