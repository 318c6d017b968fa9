#!/usr/bin/env python3
"""Makes a recipe's import, clean, anonymise, filter and dedup on Ray Data.

    pip install ray 'riddlemill[cluster]'
    python cluster/riddlemill_ray.py --recipe flub --work /mnt/shared/mill

The tasks are those of `riddlemill.cluster`: a phase is a dataset, and a lane's blocks meet in a `groupby`.
"""

import pyarrow as pa
import ray
from riddlemill.cluster import arguments, run_job, run_step, run_task

# Ray makes a task of every partition: 200 of them, however few the lanes, unless a number is set.
MOST_TASKS = 10_000


def table(blocks):
    blocks = list(blocks)
    lanes, data = [lane for lane, _ in blocks], [block for _, block in blocks]
    return pa.table({"lane": pa.array(lanes, pa.int64()), "block": pa.array(data, pa.large_binary())})


class Ray:
    """An engine of `riddlemill.cluster`."""

    def run(self, plan, phase):
        def task(numbers):
            return table(block for n in numbers["id"].to_pylist() for block in run_task(plan, phase.first, n))

        data = ray.data.range(phase.tasks, override_num_blocks=max(1, phase.tasks))
        data = data.map_batches(task, batch_size=1, batch_format="pyarrow")
        for name, lanes in phase.steps:

            def step(blocks, name=name):
                lane = blocks["lane"][0].as_py()
                return table(run_step(plan, name, lane, blocks["block"].to_pylist()))

            data = data.groupby("lane", num_partitions=min(lanes, MOST_TASKS)).map_groups(step, batch_format="pyarrow")
        return [row["block"] for row in data.take_all()]


def main():
    args = arguments(__doc__).parse_args()
    ray.init(ignore_reinit_error=True)
    run_job(args, Ray())


if __name__ == "__main__":
    main()
