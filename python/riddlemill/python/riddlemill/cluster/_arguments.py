"""The arguments of a script that runs a job, which are the same for every engine."""

from __future__ import annotations

import argparse
import json
import sys

from ._job import Job
from ._plan import Engine


def arguments(
    description: str | None, *, work: str = "a folder for what lies between tasks, by fsspec"
) -> argparse.ArgumentParser:
    """A parser of the arguments of `run_job`, to which a script adds its own. `work` is the help text of `--work`."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", required=True, help="ruozhibench-gen, flub or chumor")
    parser.add_argument("--work", required=True, help=work)
    parser.add_argument("--workspace", default=".", help="the folder of pipeline.toml")
    parser.add_argument("--dumps", help="the workspace's folder as other machines see it, by fsspec")
    parser.add_argument("--storage", type=json.loads, default={}, help="options of fsspec's file system, as JSON")
    parser.add_argument("--piece", type=_positive, help="how many bytes of a dump one task imports; 128 MiB by default")
    parser.add_argument("--lanes", type=_positive, help="the number of lanes for keys; one for every 65,536 rows by default")
    parser.add_argument("--split", type=_positive, default=100_000, help="the most rows that are looked up under one key in one task")
    parser.add_argument("--rounds", type=_positive, default=1, help="the number of shares in which the keys of dedup are processed")
    return parser


def run_job(args: argparse.Namespace, engine: Engine) -> None:
    """Runs the job that the arguments name. On stderr it says what one machine would take, and reports finished phases."""
    job = Job(
        args.workspace,
        args.recipe,
        args.work,
        engine,
        dumps=args.dumps,
        piece=args.piece,
        lanes=args.lanes,
        split=args.split,
        rounds=args.rounds,
        storage=args.storage,
    )
    job.run(lambda phase: print(phase, file=sys.stderr, flush=True))


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number
