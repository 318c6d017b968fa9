"""Import, clean, anonymise, filter and dedup in tasks, for whatever runs tasks on many machines: Spark, Ray, Slurm.

A `Job` is a few phases, one after another. A phase is a number of tasks and the steps behind them: a task gives blocks
of bytes, each with the number of a lane, and a step gets all blocks of one lane, in any order, and gives blocks for the
lanes of the next step. That is all an engine does: `Local` here, and those in the folder `cluster` of the sources.

What tasks make they write into a folder that all machines see, by fsspec: ledger records in chunks, rows, pairs. A file
is whole or absent, and a task that is made again writes the same bytes: none looks at a clock or at its machine. What
comes back to the driver are counts. Every decision is the command's, or that of the same Rust in `riddlemill_text`.
"""

from ._arguments import arguments, run_job
from ._job import Job
from ._local import Local
from ._plan import Block, Engine, Phase, Plan
from ._tasks import run_step, run_task

__all__ = ["Block", "Engine", "Job", "Local", "Phase", "Plan", "arguments", "run_job", "run_step", "run_task"]
