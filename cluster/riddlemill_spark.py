#!/usr/bin/env python3
"""Makes a recipe's import, clean, anonymise, filter and dedup on Apache Spark.

    spark-submit cluster/riddlemill_spark.py --recipe flub --work s3://bucket/mill

The tasks are those of `riddlemill.cluster`, which is on the executors with the package; Spark runs them, again where a
machine was lost, and brings what they hand on together by its lane. `riddlemill assemble` then writes staged/ of the
workspace, the same bytes as `riddlemill run`. See README.md in this folder.
"""

import functools
import sys
import zipimport

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from riddlemill.cluster import arguments, run_job, run_step, run_task

BLOCKS = "slot int, lane int, block binary"
# Lanes of a shuffle that one task takes at the most. More tasks than this are no use to any cluster.
MOST_TASKS = 20_000


def batches(blocks, slots):
    """Blocks as Spark takes them, each with the value that brings it to the task of its lane."""
    for lane, block in blocks:
        yield pa.RecordBatch.from_pydict(
            {
                "slot": pa.array([slots[lane % len(slots)]], pa.int32()),
                "lane": pa.array([lane], pa.int32()),
                "block": pa.array([block], pa.binary()),
            }
        )


class Spark:
    """An engine: a phase is a job, a lane's blocks meet in a shuffle. Needs no more than DataFrames, so that it works with
    Spark Connect too."""

    def __init__(self, spark):
        self.spark = spark
        # A row holds up to some MiB.
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "16")
        # A phase says how many partitions each of its steps has, and all of its work is in Python: to plan it anew after every
        # shuffle, and to compile what is between two of them, costs the driver more than small phases take.
        spark.conf.set("spark.sql.adaptive.enabled", "false")
        spark.conf.set("spark.sql.codegen.wholeStage", "false")

    def run(self, plan, phase):
        lanes = [min(lanes, MOST_TASKS) for _, lanes in phase.steps]
        slots = [spread(count) for count in lanes] + [[0]]
        frame = self.spark.range(0, phase.tasks, 1, phase.tasks).mapInArrow(first(plan, phase.first, slots[0]), BLOCKS)
        for n, (name, _) in enumerate(phase.steps):
            frame = frame.repartition(lanes[n], "slot").mapInArrow(step(plan, name, slots[n + 1]), BLOCKS)
        return [bytes(row.block) for row in frame.select("block").collect()]


@functools.cache
def spread(count):
    """A value for each of so many partitions that Spark's hash brings there, so that each has as many lanes."""
    found, start = {}, 0
    while len(found) < count:
        values = np.arange(start, start + 16 * count, dtype=np.uint32)
        places = murmur3(values).astype(np.int32).astype(np.int64) % count
        for place, value in zip(places.tolist(), values.tolist()):
            found.setdefault(place, value)
        start += 16 * count
    return [found[place] for place in range(count)]


def murmur3(values):
    """The hash of whole numbers that Spark partitions by: MurmurHash3 with the seed 42."""

    def turned(value, bits):
        return value << np.uint32(bits) | value >> np.uint32(32 - bits)

    mixed = turned(values * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    state = turned(np.uint32(42) ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    state = state ^ np.uint32(4)
    state = (state ^ state >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    state = (state ^ state >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return state ^ state >> np.uint32(16)


def forget_archives():
    """PySpark empties the caches of all importers before every task, and those of its own archives read their directory anew,
    which takes 0.1 s of a core. Without an importer there is nothing to empty; whatever is imported next makes it again."""
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimport.zipimporter):
            del sys.path_importer_cache[path]


def first(plan, name, slots):
    def task(numbers):
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from batches(run_task(plan, name, number), slots)
        forget_archives()

    return task


def step(plan, name, slots):
    def task(blocks):
        lanes = {}
        for batch in blocks:
            for lane, block in zip(batch.column(1).to_pylist(), batch.column(2).to_pylist()):
                lanes.setdefault(lane, []).append(block)
        for lane in sorted(lanes):
            yield from batches(run_step(plan, name, lane, lanes.pop(lane)), slots)
        forget_archives()

    return task


def main():
    args = arguments(__doc__).parse_args()
    run_job(args, Spark(SparkSession.builder.appName(f"riddlemill {args.recipe}").getOrCreate()))


if __name__ == "__main__":
    main()
