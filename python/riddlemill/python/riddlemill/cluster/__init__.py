"""Import, clean, anonymise, filter and dedup as tasks, for any engine that runs tasks on many machines: Spark, Ray, Slurm.

A `Job` consists of phases that run one after another. A phase consists of tasks and of the steps after them: a task
returns blocks of bytes, each with the number of a lane; a step receives all blocks of one lane, in any order, and returns
blocks for the lanes of the next step. An engine has to do nothing else: see `Local` here, and the folder `cluster` of the
sources.

Tasks write their results into a folder that all machines can reach through fsspec: ledger records in chunks, rows, pairs.
A file is either complete or absent, and a repeated task writes the same bytes, because no task uses the clock or anything
of its machine. Only counts return to the driver. Every decision is made by the command, or by the same Rust code in
`riddlemill_text`.
"""

from ._arguments import arguments, run_job
from ._job import Job
from ._local import Local
from ._plan import Block, Engine, Phase, Plan
from ._tasks import run_step, run_task

__all__ = ["Block", "Engine", "Job", "Local", "Phase", "Plan", "arguments", "run_job", "run_step", "run_task"]
