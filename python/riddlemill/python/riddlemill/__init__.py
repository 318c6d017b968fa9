"""riddlemill from Python: workspaces, their stages, ledgers and releases, and the rules for texts.

    from riddlemill import Workspace

    mill = Workspace.init("mill")
    mill.run(offline=True)
    print(mill.status())
    mill.stage("filter", "flub").ledger.filter(pl.col("outcome") == "dropped")

A workspace is the folder that the command uses; `Workspace.run` is `riddlemill run` with its locks, and both can be used on
the same workspace in turn. The functions on texts are those of `riddlemill_text`.
"""

from riddlemill_text import (
    anonymise,
    clean,
    compare,
    dedup,
    filter,
    is_question,
    judge,
    normalize,
    similar_pairs,
    similarity,
)

from ._command import command
from ._errors import Busy, Failed, Gap, NotFound, RiddlemillError, UsageError
from ._stages import Stage
from ._releases import Release
from ._workspace import Explanation, Run, StageStatus, Status, Workspace

__version__ = "0.1.0"
__all__ = [
    "Busy",
    "Explanation",
    "Failed",
    "Gap",
    "NotFound",
    "Release",
    "RiddlemillError",
    "Run",
    "Stage",
    "StageStatus",
    "Status",
    "UsageError",
    "Workspace",
    "anonymise",
    "clean",
    "command",
    "compare",
    "dedup",
    "filter",
    "is_question",
    "judge",
    "normalize",
    "similar_pairs",
    "similarity",
]
