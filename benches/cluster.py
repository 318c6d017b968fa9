"""What the functions of dedup cost a post, and how large the groups are that a cluster has to bring together.

    cargo build --release
    python benches/cluster.py --program target/release/riddlemill --sizes 100000,1000000 [--posts FILE.jsonl]
    python benches/cluster.py --program … --sizes … --metric indel --threshold 0.8

For each size the posts go through the filters of `cluster/README.md` as on one partition: clean, dedup-stats,
dedup-keys, sort, dedup-verify. Told are the CPU time a post of each, the bytes that it hands to a shuffle, and the
largest groups of one key. There are more keys of many posts than a disk holds: what dedup-keys takes is measured on
100,000 posts, spread over all, and only one share of the keys in 256 (`--shares`), with all of its rows, goes on to
sort and dedup-verify; their figures are extrapolated to the whole.
"""

import argparse
import collections
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile

# Posts of which all keys are cut.
SAMPLE = 100_000


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(args, stdin, stdout):
    """Seconds of CPU of a command from file to file."""
    before = spent()
    with open(stdin, "rb") as source, open(stdout, "wb") as sink:
        subprocess.run(args, stdin=source, stdout=sink, check=True)
    return spent() - before


def streamed(args, source, take):
    """Seconds of CPU of a command whose output goes to `take` in chunks of whole lines."""
    before, rest = spent(), b""
    with open(source, "rb") as stdin, subprocess.Popen(args, stdin=stdin, stdout=subprocess.PIPE) as process:
        while chunk := process.stdout.read(1 << 22):
            chunk = rest + chunk
            end = chunk.rfind(b"\n") + 1
            rest = chunk[end:]
            take(chunk[:end])
    if process.returncode:
        sys.exit(f"{' '.join(args)} ended with {process.returncode}")
    return spent() - before


class Count:
    """Lines and bytes that pass, on their way to a file where there is one."""

    def __init__(self, out=None):
        self.lines = self.bytes = 0
        self.out = out

    def __call__(self, chunk):
        self.lines += chunk.count(b"\n")
        self.bytes += len(chunk)
        if self.out:
            self.out.write(chunk)


def measure(program, settings, posts, size, options, folder):
    path = lambda name: os.path.join(folder, name)
    apply = lambda stage, *more: [program, "apply", stage, *more, *settings]
    step = -(-size // SAMPLE)
    with open(path("rows"), "w", encoding="utf-8") as out, open(path("sample"), "w", encoding="utf-8") as sample:
        for n, line in enumerate(itertools.islice(posts, size)):
            text = json.loads(line)["text"]
            # What clean takes, and what dedup takes.
            row = json.dumps({"id": str(n), "content": text, "text": text}, ensure_ascii=False) + "\n"
            out.write(row)
            if n % step == 0:
                sample.write(row)
    sampled = -(-size // step)
    report = lambda name, cpu, more: print(f"  {name:<14} {cpu / size * 1e6:8.1f} µs a post  {more}", flush=True)
    print(f"{size:,} posts")
    records = Count()
    report("clean", streamed([program, "apply", "clean", "--ledger"], path("rows"), records), f"{records.bytes / size:,.0f} bytes a post")
    with open(path("stats"), "wb") as out:
        stats = Count(out)
        report("dedup-stats", streamed(apply("dedup-stats"), path("rows"), stats), f"{stats.bytes / 1e6:.1f} MB in all")
    keys, keyed = Count(), apply("dedup-keys", "--stats", path("stats"))
    cpu = streamed(keyed, path("sample"), keys)
    report("dedup-keys", cpu * size / sampled, f"{keys.bytes / sampled:,.0f} bytes a post in {keys.lines / sampled:,.0f} keys")
    every = options.shares
    call([*keyed, "--share", f"1/{every}"], path("rows"), path("keys"))
    os.environ["LC_ALL"] = "C"
    with open(path("sorted"), "wb") as out:
        cpu = streamed(["sort", "-S", "1G", "-T", folder, path("keys")], os.devnull, out.write)
    report("sort", cpu * every, "")
    pairs = Count()
    cpu = streamed(apply("dedup-verify"), path("sorted"), pairs)
    report("dedup-verify", cpu * every, f"{pairs.bytes * every / size:,.0f} bytes a post in {pairs.lines * every / size:,.0f} pairs that may be alike")
    groups = collections.Counter()
    with open(path("sorted"), encoding="utf-8") as lines:
        for entry in map(json.loads, lines):
            groups[entry["of"], entry["role"], entry["key"]] += 1
    largest = {}
    for (of, role, _), rows in groups.items():
        largest[of, role] = max(largest.get((of, role), 0), rows)
    for (of, role), rows in sorted(largest.items()):
        print(f"  {of:<14} {rows:>9,} rows in the largest group of those that {'look' if role else 'wait'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--posts", help="JSON Lines with text; own ones, if left out")
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--metric")
    parser.add_argument("--threshold", default="0.8")
    parser.add_argument("--shares", type=int, default=256, help="one share of so many goes on")
    parser.add_argument("--folder", help="for working files")
    options = parser.parse_args()
    settings = ["--metric", options.metric, "--threshold", options.threshold, "--normalize", "none"] if options.metric else []
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            if options.posts:
                with open(options.posts, encoding="utf-8") as posts:
                    measure(options.program, settings, posts, size, options, folder)
            else:
                from join import make_posts

                posts = (json.dumps(row) for row in make_posts(size))
                measure(options.program, settings, posts, size, options, folder)


if __name__ == "__main__":
    main()
