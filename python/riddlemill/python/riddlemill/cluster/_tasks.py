"""Tasks and steps by their names, which engines pass on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._import import find_repeats, import_piece, keep_repeats
from ._keys import add_counts, count_tokens, cut_keys, find_heavy, keep_counts, keep_heavy, meet, sample_keys
from ._pairs import compare_pairs, with_first
from ._pieces import merge_census, merge_names, take_census
from ._plan import Block, Plan, Step, Task
from ._resolve import book, keep_decided, resolve, sort_pairs, with_kept
from ._rows import find_copies, keep_copies, make_rows

TASKS: dict[str, Task] = {
    task.__name__: task
    for task in [take_census, import_piece, make_rows, count_tokens, sample_keys, cut_keys, resolve, book]
}
STEPS: dict[str, Step] = {
    step.__name__: step
    for step in [
        merge_census,
        merge_names,
        find_repeats,
        keep_repeats,
        find_copies,
        keep_copies,
        add_counts,
        keep_counts,
        find_heavy,
        keep_heavy,
        meet,
        with_first,
        compare_pairs,
        with_kept,
        keep_decided,
        sort_pairs,
    ]
}


def run_task(plan: Plan, name: str, number: int) -> Iterator[Block]:
    """The blocks of a phase's task."""
    return TASKS[name](plan, number)


def run_step(plan: Plan, name: str, lane: int, blocks: Sequence[bytes]) -> Iterator[Block]:
    """The blocks that a step makes from those of a lane."""
    return STEPS[name](plan, lane, blocks)
