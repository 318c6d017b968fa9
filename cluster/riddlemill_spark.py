#!/usr/bin/env python3
"""Makes a recipe's import, clean, anonymise, filter and dedup on Apache Spark.

    spark-submit --files riddlemill cluster/riddlemill_spark.py --recipe flub --work hdfs:///tmp/mill

Every decision is the program's: rows go through `riddlemill apply ...` as lines, and Spark sorts, groups and
joins in between. `riddlemill assemble` then writes staged/ of the workspace, the same bytes as `riddlemill
run`. See README.md beside this file.
"""

import argparse
import gc
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
import uuid

import numpy as np
import pyarrow as pa
from pyspark import SparkFiles, StorageLevel
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

STAGES = ["import", "clean", "anonymise", "filter", "dedup"]
# Exit code 3: done, and some lines could not be read. Import books them, the others tell them.
DONE = (0, 3)
CHUNK = 1 << 22
# Bytes of dumps whose posts, with all the keys that they are given, are one partition's.
SHARE = 8 << 20
# A row in so many is looked at to find keys that many rows share.
SAMPLE = 64


def command(args):
    """A call of the program, as an executor makes it."""
    return [SparkFiles.get("riddlemill"), *args, "--workspace", SparkFiles.get("workspace")]


def lines_of(stream):
    """What a stream says as arrays of whole lines, each with its line feed."""
    rest = b""
    while chunk := stream.read(CHUNK):
        chunk = rest + chunk
        end = chunk.rfind(b"\n") + 1
        rest = chunk[end:]
        if end:
            ends = np.flatnonzero(np.frombuffer(chunk, np.uint8, end) == 10).astype(np.int32) + 1
            offsets = pa.py_buffer(np.concatenate([np.zeros(1, np.int32), ends]))
            yield pa.StringArray.from_buffers(len(ends), offsets, pa.py_buffer(chunk[:end]))
    if rest:
        raise RuntimeError("the last line has no end")


def bytes_of(array):
    """The texts of an array behind one another."""
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
    return memoryview(array.buffers()[2])[offsets[0] : offsets[-1]] if len(array) else b""


def called(args, feed):
    """Calls the program; `feed` writes its input while its output is read. Ends with the program's error."""
    with tempfile.TemporaryFile() as talk:
        process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=talk)
        failed = []

        def write():
            try:
                with process.stdin as stdin:
                    feed(stdin)
            except BrokenPipeError:
                pass  # The exit code tells.
            except BaseException as error:
                failed.append(error)
                process.kill()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            yield from lines_of(process.stdout)
            code = process.wait()
            writer.join()
        finally:
            process.kill()
        if failed:
            raise failed[0]
        talk.seek(0)
        said = talk.read().decode(errors="replace")
        sys.stderr.write(said)
        if code not in DONE:
            raise RuntimeError(f"{' '.join(args[:3])} ended with {code}: {said[-2000:]}")


def pipe(frame, *args, files=()):
    """Sends the lines of each partition, in their order, through the program. `files` are arguments that
    executors find by name."""

    def through(batches):
        def feed(stdin):
            for batch in batches:
                stdin.write(bytes_of(batch.column(0)))

        here = command([*args, *(SparkFiles.get(name) for name in files)])
        for lines in called(here, feed):
            yield pa.RecordBatch.from_arrays([lines], ["line"])

    return frame.select("line").mapInArrow(through, "line string")


def bare(line="line"):
    return F.expr(f"substring({line}, 1, length({line}) - 1)")


def key_of():
    """The first value of a line: a text without escapes."""
    return F.substring_index(F.substring_index("line", '"', 4), '"', -1)


def id_of(rank):
    return F.regexp_replace(rank, "^[^:]*:", "")


class Job:
    def __init__(self, args):
        self.args = args
        self.spark = SparkSession.builder.appName(f"riddlemill {args.recipe}").getOrCreate()
        self.context = self.spark.sparkContext
        self.workspace = pathlib.Path(args.workspace).resolve()
        if args.binary:
            self.context.addFile(args.binary)
        self.binary = args.binary or SparkFiles.get("riddlemill")
        self.recipe = ["--recipe", args.recipe]

    def call(self, *args):
        """The program in the workspace, on this machine."""
        done = subprocess.run(
            [self.binary, *args, "--workspace", str(self.workspace)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode not in DONE:
            sys.exit(f"{' '.join(args)} ended with {done.returncode}: {done.stderr}")
        sys.stderr.write(done.stderr)
        return done.stdout

    def run(self):
        dumps = [json.loads(line) for line in self.call("apply", "import", "--list", *self.recipe).splitlines()]
        self.partitions = self.args.partitions or max(1, -(-sum(dump["bytes"] for dump in dumps) // SHARE))
        # Joins and groups of posts too: what Spark does unasked is 200 tasks, however few the posts.
        self.spark.conf.set("spark.sql.shuffle.partitions", str(self.partitions))
        # Draws the salt where this is the workspace's first run.
        self.call("apply", "import", "--kind", "table")
        # The names of all users, hashed: each dump is looked through for those of the others too.
        self.names = str(self.workspace / ".index" / f"names-{self.args.recipe}")
        os.makedirs(os.path.dirname(self.names), exist_ok=True)
        self.call("apply", "import", *self.recipe, "--write-names", self.names)
        self.ship()
        made = {"import": self.settle(self.imported(dumps))}
        self.save(made["import"], "import")
        for before, stage in zip(STAGES, STAGES[1:-1]):
            made[stage] = self.keep(pipe(made[before], "apply", stage, "--books", *self.recipe))
            self.save(made[stage], stage)
        self.dedup(made["filter"])
        for stage in STAGES:
            pairs = ["--pairs", self.local("pairs")] if stage == "dedup" else []
            self.call("assemble", *self.recipe, *pairs, stage, self.local(stage))

    def ship(self):
        """What an executor needs of the workspace: settings, salt, lists."""
        settings = tomllib.loads((self.workspace / "pipeline.toml").read_text(encoding="utf-8"))
        names = ["pipeline.toml", "raw/salt", *lists(settings)]
        self.scratch = tempfile.TemporaryDirectory(prefix="riddlemill-")
        archive = pathlib.Path(self.scratch.name) / f"workspace-{uuid.uuid4().hex}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            for name in names:
                tar.add(self.workspace / name, name)
            tar.add(self.names, "names")
        self.context.addArchive(f"{archive}#workspace")

    def imported(self, dumps):
        """Each dump by itself: which dump, which line of its books, the line."""
        base = self.args.dumps or f"file://{self.workspace}"
        uris = [f"{base.rstrip('/')}/{os.path.relpath(dump['path'], self.workspace)}" for dump in dumps]
        known = {uri.split(":", 1)[1].replace("//", "", 1).lstrip("/"): i for i, uri in enumerate(uris)}
        recipe = self.recipe

        def read(batches):
            for batch in batches:
                for path, content in zip(*(column.to_pylist() for column in batch.columns)):
                    number = known[path.split(":", 1)[1].lstrip("/")]
                    dump = dumps[number]
                    args = ["apply", "import", "--unsettled", *recipe, "--source", dump["source"]]
                    args += ["--names", os.path.join(SparkFiles.get("workspace"), "names")]
                    at = 0
                    with tempfile.NamedTemporaryFile() as file:
                        file.write(content)
                        file.flush()
                        here = command([*args, "--file", dump["file"], file.name])
                        for lines in called(here, lambda stdin: None):
                            numbers = pa.array(np.full(len(lines), number, np.int32))
                            places = pa.array(np.arange(at, at + len(lines)))
                            at += len(lines)
                            yield pa.RecordBatch.from_arrays([numbers, places, lines], ["dump", "at", "line"])

        # A file is a record: no two of them at once in memory.
        self.spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
        files = self.spark.read.format("binaryFile").load(uris).select("path", "content")
        books = self.keep(files.mapInArrow(read, "dump int, at long, line string"))
        books.count()
        self.spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
        return books

    def settle(self, books):
        """Of posts of one id the first is kept. The books of all dumps, in order."""
        rows = F.from_json("line", "rows array<struct<id string, text string>>")["rows"]
        posts = books.select("dump", "at", F.posexplode(rows).alias("row", "post")).select(
            F.struct("dump", "at", "row").alias("place"), "post.id", F.md5("post.text").alias("digest")
        )
        first = F.min(F.struct("place", "digest")).alias("first")
        several = posts.groupBy("id").agg(first, F.count("*").alias("n")).where("n > 1").drop("n")
        again = F.struct("place.row", (F.col("digest") == F.col("first.digest")).alias("same"))
        known = posts.join(several, "id").where("place > first.place").groupBy("place.dump", "place.at")
        known = known.agg(F.to_json(F.sort_array(F.collect_list(again))).alias("again"))
        marked = F.concat(F.lit('{"again":'), "again", F.lit(',"booked":'), bare(), F.lit("}\n"))
        books = books.join(known, ["dump", "at"], "left")
        books = books.withColumn("line", F.when(F.col("again").isNull(), F.col("line")).otherwise(marked))
        books = books.repartitionByRange(self.partitions, "dump", "at").sortWithinPartitions("dump", "at")
        return self.keep(pipe(books, "apply", "settle"))

    def dedup(self, filtered):
        """The exact join: by keys, not by pairs of partitions."""
        row = "get_json_object(line, '$.rows[0].{}')".format
        rows = filtered.withColumn("n", F.monotonically_increasing_id())
        rows = self.keep(rows.withColumn("id", F.expr(row("id"))).withColumn("text", F.expr(row("text"))).dropna())
        copies = self.keep(self.verified(pipe(rows, "apply", "dedup-keys", *self.recipe)))
        gone = copies.select(id_of(F.get_json_object("line", "$.from")).alias("id"))
        heads = self.keep(rows.join(gone, "id", "left_anti"))
        stats = self.stats(heads)
        pairs = self.compared(self.named(heads, stats), heads)
        ids = pairs.select(
            "line", *(id_of(F.get_json_object("line", f"$.{end}")).alias(end) for end in ("into", "from"))
        )
        self.save(ids.orderBy("into", "from"), "pairs")
        self.save(self.booked(rows, copies.union(pairs)), "dedup")

    def named(self, heads, stats):
        """Pairs that may be alike. A round brings one share of the keys together; what it shuffled may go before
        the next begins, since its pairs are written away."""
        rounds = range(1, self.args.rounds + 1)
        for n in rounds:
            share = ["--share", f"{n}/{self.args.rounds}", "--stats"]
            keys = lambda frame: pipe(frame, "apply", "dedup-keys", *self.recipe, *share, files=[stats])
            self.save(self.verified(self.split(keys, heads)).dropDuplicates(), f"maybe-{n}")
            if n < self.args.rounds:
                # Spark removes the files of a shuffle when the driver's collector finds that nobody knows it.
                gc.collect()
                self.context._jvm.System.gc()
        lines = self.spark.read.text([self.place(f"maybe-{n}") for n in rounds])
        return lines.select(F.concat("value", F.lit("\n")).alias("line")).dropDuplicates()

    def verified(self, keys):
        """Pairs among rows of one key."""
        keys = keys.withColumn("key", key_of()).repartition(self.partitions, "key")
        # All lines begin alike: it is the key that tells them apart at once.
        return pipe(keys.sortWithinPartitions("key", "line"), "apply", "dedup-verify", *self.recipe)

    def stats(self, heads):
        """Counts of the corpus, as a file that executors find."""
        merged = pipe(heads, "apply", "dedup-stats", *self.recipe)
        for count in (min(64, self.partitions), 1):
            merged = pipe(merged.coalesce(count), "apply", "dedup-stats", *self.recipe)
        path = pathlib.Path(self.scratch.name) / f"stats-{uuid.uuid4().hex}.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(row.line for row in merged.toLocalIterator())
        self.context.addFile(str(path))
        return path.name

    def split(self, keys, heads):
        """Keys of all rows. Where more rows than `--split` look under one key, each shard of them finds all
        that wait there."""
        if heads.count() <= self.args.split:
            return keys(heads)
        sample = keys(heads.where(F.pmod(F.xxhash64("id"), F.lit(SAMPLE)) == 0)).withColumn("key", key_of())
        heavy = self.keep(sample.groupBy("key").count().where(F.col("count") * SAMPLE > self.args.split))
        if heavy.isEmpty():
            return keys(heads)
        shards = F.ceil(F.col("count") * SAMPLE / self.args.split).cast("int").alias("shards")
        every = keys(heads).withColumn("key", key_of())
        every = every.join(F.broadcast(heavy.select("key", shards)), "key", "left")
        waits = F.expr("substring(line, length(key) + 18, 1) = '0'")
        own = F.array(F.pmod(F.xxhash64("line"), F.col("shards")).cast("int"))
        all_of = F.sequence(F.lit(0), F.col("shards") - 1)
        places = F.when(F.col("shards").isNull(), F.array(F.lit(None).cast("int")))
        # Rows of one text have one key and no roles: whoever is there meets all, and there are few.
        whole = F.substring("key", 1, 1) == "e"
        places = F.when(whole, F.array(F.lit(None).cast("int"))).otherwise(
            places.otherwise(F.when(waits, all_of).otherwise(own))
        )
        every = every.select("key", "line", F.explode(places).alias("shard"))
        sharded = F.concat(
            F.lit('{"key":"'), "key", F.lit("-"), "shard", F.expr("substring(line, length(key) + 9)")
        )
        return every.select(F.when(F.col("shard").isNull(), F.col("line")).otherwise(sharded).alias("line"))

    def compared(self, maybe, heads):
        """Pairs that are the same or borderline, of those that may be: their texts are brought together."""
        ends = F.array(F.get_json_object("line", "$.from"), F.get_json_object("line", "$.into"))
        members = maybe.select(F.md5("line").alias("key"), F.explode(ends).alias("rank"))
        members = members.withColumn("id", id_of("rank")).join(heads.select("id", "text"), "id")
        line = F.concat(F.to_json(F.struct("key", "rank", "text")), F.lit("\n"))
        return self.keep(self.verified(members.select(line.alias("line"))))

    def booked(self, rows, pairs):
        """The books of dedup, in the order of the rows."""
        decided = pipe(pairs.coalesce(1), "apply", "dedup-resolve", *self.recipe)
        decided = decided.select(
            F.from_json("line", "id string, into string, score double, predicate string").alias("d")
        ).select("d.*")
        texts = rows.select(F.col("id").alias("into"), F.struct("id", "text").alias("kept"))
        decided = decided.join(texts, "into").select(
            "id", F.to_json(F.struct(F.col("kept").alias("into"), "score", "predicate")).alias("decided")
        )
        line = F.concat(
            F.lit('{"row":'),
            bare(),
            F.when(F.col("decided").isNull(), F.lit("}\n")).otherwise(
                F.concat(F.lit(","), F.expr("substring(decided, 2)"), F.lit("\n"))
            ),
        )
        books = rows.join(decided, "id", "left").select("n", line.alias("line"))
        books = books.repartitionByRange(self.partitions, "n").sortWithinPartitions("n")
        return pipe(books, "apply", "dedup-book")

    def keep(self, frame):
        """Made once; what a lost machine had is made again, the same."""
        return frame.persist(StorageLevel.DISK_ONLY)

    def place(self, name):
        return f"{self.args.work.rstrip('/')}/{self.args.recipe}/{name}"

    def save(self, frame, name):
        """Partitions in their order, each whole or absent: only what a task commits is there."""
        print(f"{self.args.recipe}/{name}", file=sys.stderr, flush=True)
        lines = frame.select(bare().alias("value"))
        lines.write.mode("overwrite").option("compression", "gzip").text(self.place(name))

    def local(self, name):
        """A folder of partitions on this machine."""
        path = self.context._jvm.org.apache.hadoop.fs.Path(self.place(name))
        system = path.getFileSystem(self.context._jsc.hadoopConfiguration())
        if system.getScheme() == "file":
            return path.toUri().getPath()
        target = f"{self.scratch.name}/{name}"
        copy = self.context._jvm.org.apache.hadoop.fs.Path(f"file://{target}")
        system.copyToLocalFile(False, path, copy, True)
        return target


def lists(settings):
    """Word lists that the settings name, wherever."""
    found = []
    for key, value in settings.items():
        if key in ("policy", "common_words") and isinstance(value, list):
            found += [name for name in value if name != "builtin"]
        elif isinstance(value, dict):
            found += lists(value)
    return found


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", required=True, help="ruozhibench-gen, flub or chumor")
    parser.add_argument("--work", required=True, help="a folder for partitions, on any Hadoop file system")
    parser.add_argument("--workspace", default=".", help="the folder of pipeline.toml")
    parser.add_argument("--dumps", help="the workspace's folder as executors see it, where they read dumps")
    parser.add_argument("--binary", help="the program, where spark-submit --files does not ship it")
    parser.add_argument("--partitions", type=positive, help="of shuffles; one for 8 MiB of dumps, if left out")
    parser.add_argument("--split", type=positive, default=100_000, help="rows that look under one key together")
    parser.add_argument("--rounds", type=positive, default=1, help="bring the keys of dedup together in so many shares")
    Job(parser.parse_args()).run()


if __name__ == "__main__":
    main()
