"""What the functions of dedup cost a post, and how large the groups are that a cluster has to bring together.

    cargo build --release
    python benches/cluster.py --program target/release/riddlemill --sizes 100000,1000000 [--posts FILE.jsonl]
    python benches/cluster.py --program … --sizes … --metric indel --threshold 0.8

For each size the posts go through the filters of `cluster/README.md` as on one partition: clean, dedup-stats,
dedup-keys, sort, dedup-verify, and the comparison of what may be alike. Told are the CPU time a post of each, the
bytes that it hands to a shuffle, and the largest groups of one key. Of the keys of many posts there are more than a
disk holds, so that only one row in `--rows` is cut into keys, by the counts of all; of the groups only those of one
key in `--keys`. What is told of them is counted up to the whole.
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


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(args, stdin, stdout):
    """Seconds of CPU of a command from file to file."""
    before = spent()
    with open(stdin, "rb") as source, open(stdout, "wb") as sink:
        subprocess.run(args, stdin=source, stdout=sink, check=True)
    return spent() - before


def sampled(source, target, every):
    with open(source, "rb") as lines, open(target, "wb") as out:
        out.writelines(itertools.islice(lines, 0, None, every))


def groups(args, rows, every):
    """The rows under each key of the sample of keys, by what the key is of and by role."""
    found = collections.Counter()
    lines = bytes_ = 0
    with open(rows, "rb") as source, subprocess.Popen(args, stdin=source, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            lines, bytes_ = lines + 1, bytes_ + len(line)
            key = line[8 : line.index(b'"', 8)]
            if int(key[-4:], 16) % every == 0:
                entry = json.loads(line)
                found[entry["of"], entry["role"], key] += 1
    if process.returncode:
        sys.exit(f"{' '.join(args)} ended with {process.returncode}")
    return found, lines, bytes_


def measure(program, settings, posts, size, options, folder):
    path = lambda name: os.path.join(folder, name)
    apply = lambda stage, *more: [program, "apply", stage, *more, *settings]
    with open(path("rows"), "w", encoding="utf-8") as out:
        for n, line in enumerate(itertools.islice(posts, size)):
            out.write(json.dumps({"id": str(n), "text": json.loads(line)["text"]}, ensure_ascii=False) + "\n")
    told = lambda name, cpu, of, more="": print(f"  {name:<22} {cpu / of * 1e6:8.1f} µs a post{more}", flush=True)
    print(f"{size:,} posts")
    told("clean", call([program, "apply", "clean", "--books"], path("rows"), path("clean")), size, f"  {os.path.getsize(path('clean')) / size:8.0f} bytes a post")
    os.remove(path("clean"))
    told("dedup-stats", call(apply("dedup-stats"), path("rows"), path("stats")), size, f"  {os.path.getsize(path('stats')) / 1e6:8.1f} MB in all")
    cut = apply("dedup-keys", "--stats", path("stats"))
    some = path("some")
    sampled(path("rows"), some, options.rows)
    # What reading the counts takes is paid once a task, not once a post.
    with open(path("none"), "wb"):
        once = call(cut, path("none"), path("keys"))
    of = -(-size // options.rows)
    cpu = call(cut, some, path("keys")) - once
    length = os.path.getsize(path("keys"))
    with open(path("keys"), "rb") as lines:
        count = sum(1 for _ in lines)
    told("dedup-keys", cpu, of, f"  {length / of:8.0f} bytes a post in {count / of:.0f} keys; {once:.1f} s a task")
    os.environ["LC_ALL"] = "C"
    cpu = call(["sort", "-S", "1G", "-T", folder, path("keys")], path("none"), path("sorted"))
    told("sort", cpu, of)
    told("dedup-verify", call(apply("dedup-verify"), path("sorted"), path("pairs")), of)
    for name in ("keys", "sorted", "pairs"):
        os.remove(path(name))
    found, lines, bytes_ = groups(cut, path("rows"), options.keys)
    largest = {}
    for (of_what, role, _), rows in found.items():
        largest[of_what, role] = max(largest.get((of_what, role), 0), rows)
    print(f"  all rows               {bytes_ / size:8.0f} bytes a post in {lines / size:.0f} keys")
    for (of_what, role), rows in sorted(largest.items()):
        does = "wait" if role == 0 else "look"
        print(f"  {of_what:<16} largest group of one key: {rows:>9,} that {does}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--posts", help="JSON Lines with text; own ones, if left out")
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--metric")
    parser.add_argument("--threshold", default="0.8")
    parser.add_argument("--rows", type=int, default=16, help="one row in so many is cut into keys, sorted and verified")
    parser.add_argument("--keys", type=int, default=64, help="the rows of one key in so many are counted")
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
