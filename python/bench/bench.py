"""Compares the functions with the command, and `similar_pairs` with rensa and rapidfuzz, on one machine in one run.

usage: python bench.py clean POSTS.jsonl      Arrow to Arrow, against the stage of `riddlemill run`
       python bench.py pairs POSTS.jsonl      against `riddlemill apply dedup`, rensa and rapidfuzz
       python bench.py keys POSTS.jsonl [METRIC]    what the keys of dedup cost a post on a cluster

`{"id": …, "text": …}` a line. Each figure of `clean` and `pairs` is the best of three, measured in turn: wall clock on all cores, and
CPU seconds.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pyarrow.json
import riddlemill
import riddlemill_text as rt

ROUNDS = 3


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def best(what: dict) -> dict[str, float]:
    """The best of several rounds of each, all of them in every round."""
    found: dict[str, tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for name, call in what.items():
            before, started = cpu(), time.perf_counter()
            call()
            took = (time.perf_counter() - started, cpu() - before)
            found[name] = min(found.get(name, took), took)
    for name, (wall, used) in found.items():
        print(f"{name:44} {wall:8.2f} s  {used:8.2f} CPU s", flush=True)
    return {name: wall for name, (wall, _) in found.items()}


def clean(path: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        mill = riddlemill.Workspace.init(pathlib.Path(folder, "mill"), empty=True)
        os.link(path, mill.path / "raw/dumps/posts.jsonl") if _same_disk(path, mill.path) else _copy(path, mill.path)
        with (mill.path / "pipeline.toml").open("a", encoding="utf-8") as settings:
            settings.write('\n[[source]]\nname = "posts"\nkind = "table"\npath = "raw/dumps/posts.jsonl"\n')
            settings.write('fields = { id = "made:{id}", content = "text" }\n')
        mill.run("flub", to="clean", offline=True)
        rows = mill.stage("import", "flub").arrow("rows")
        print(f"{rows.num_rows} posts")
        wanted = mill.stage("clean", "flub").arrow("rows")["text"]
        made = rt.clean(rows["content"], titles=rows["title"])["text"].drop_null()
        assert made.combine_chunks().cast(pa.large_string()).equals(wanted.combine_chunks().cast(pa.large_string()))
        # A run looks at its dumps and settings first, whatever it makes.
        took = best(
            {
                "run --only clean": lambda: mill.run("flub", only="clean", force=True, offline=True),
                "of that, to see that all is fresh": lambda: mill.run("flub", only="clean", offline=True),
                "rt.clean": lambda: rt.clean(rows["content"], titles=rows["title"]),
            }
        )
        stage = took["run --only clean"] - took["of that, to see that all is fresh"]
        print(f"the stage {stage:.2f} s; rt.clean takes {took['rt.clean'] / stage:.2f} of it")


def pairs(path: pathlib.Path) -> None:
    from rapidfuzz import fuzz, process
    from rensa import RMinHash, RMinHashLSH

    rows = pyarrow.json.read_json(path)
    texts = rows["text"]
    folded = rt.normalize(texts).to_pylist()
    print(f"{len(texts)} texts, indel from 0.8")
    with tempfile.TemporaryDirectory() as folder:
        command = [riddlemill.command(), "apply", "dedup", "--metric", "indel", "--threshold", "0.8", "--quiet"]

        def by_command() -> None:
            with path.open("rb") as given, open(f"{folder}/rows", "wb") as out:
                subprocess.run([*command, "--pairs", f"{folder}/pairs"], stdin=given, stdout=out, check=True)

        def by_rensa() -> None:
            lsh = RMinHashLSH(threshold=0.5, num_perm=128, num_bands=32)
            hashes = []
            for text in folded:
                one = RMinHash(num_perm=128, seed=1)
                one.update([text[i : i + 2] for i in range(max(1, len(text) - 1))])
                hashes.append(one)
            for n, one in enumerate(hashes):
                lsh.insert(n, one)
            found.clear()
            for n, one in enumerate(hashes):
                found.extend((n, other) for other in lsh.query(one) if n < other)

        share = 32

        def by_rapidfuzz() -> None:
            process.cdist(folded[::share], folded, scorer=fuzz.ratio, score_cutoff=80, workers=-1)

        found: list[tuple[int, int]] = []
        took = best(
            {
                "rt.similar_pairs": lambda: rt.similar_pairs(texts, 0.8, "indel"),
                "apply dedup --pairs": by_command,
                "rensa, 128 permutations, 32 bands": by_rensa,
                f"rapidfuzz cdist, a row in {share}": by_rapidfuzz,
            }
        )
        exact = {(a, b) for a, b in zip(*(rt.similar_pairs(texts, 0.8, "indel")[c].to_pylist() for c in "ab"))}
        lines = pathlib.Path(folder, "pairs").read_text(encoding="utf-8").count("\n")
        assert lines == len(exact)
        recall = len(exact & set(found)) / max(1, len(exact))
        print(f"rt.similar_pairs takes {took['rt.similar_pairs'] / took['apply dedup --pairs']:.2f} of the command")
        print(f"pairs: {len(exact)}; rensa names {len(found)}, and {recall:.1%} of them")


# One share of the keys in so many is brought together with all of its rows; what it costs is counted up to the whole.
SHARES = 64


def keys(path: pathlib.Path, metric: str = "indel") -> None:
    os.environ["RIDDLEMILL_THREADS"] = "1"
    dedup = rt.PartedDedup(metric, 0.8 if metric != "default" else None, 0.0, "longest", True, "zh")
    texts = pyarrow.json.read_json(path)["text"]
    digests = pa.chunked_array(dedup.digests(texts)).to_pylist()
    first = {digest: n for n, digest in reversed(list(enumerate(digests))) if digest is not None}
    numbers = sorted(first.values())
    texts, count = texts.take(pa.array(numbers)), len(numbers)
    print(f"{count} texts, no two of which compare alike with every other; CPU time and bytes a post, {metric}")

    def report(what: str, started: float, posts: float, more: str = "") -> None:
        print(f"{what:24} {(time.process_time() - started) / posts * 1e6:8.1f} µs  {more}", flush=True)

    started = time.process_time()
    counts = dedup.count(texts)
    report("tokens counted", started, count)
    keyer = dedup.keyer(counts)
    lanes = max(1, count // 32768)
    sample, started = min(count, 1 << 14), time.process_time()
    step = count // sample
    chosen = [*range(0, count, step)][:sample]
    blocks = keyer.blocks(chosen, texts.take(pa.array(chosen)), lanes, "1/1", [])
    size = sum(len(block) for _, block in blocks)
    report("keys cut", started, sample, f"{size / sample:,.0f} bytes")
    share = []
    for start in range(0, count, 1 << 14):
        rows = list(range(start, min(count, start + (1 << 14))))
        share += [block for _, block in keyer.blocks(rows, texts.slice(start, len(rows)), 1, f"1/{SHARES}", [])]
    started = time.process_time()
    pairs = pa.table(dedup.pairs(share))
    report("keys brought together", started, count / SHARES, f"{len(pairs) * SHARES / count:.1f} pairs at the most")
    sides, started = [texts.take(pairs[side]) for side in "ab"], time.process_time()
    alike = pa.table(dedup.compare(*sides, dedup.common_pairs(counts)))["verdict"].drop_null()
    report("a pair compared", started, max(1, len(pairs)), f"{len(alike)} of {len(pairs)} alike")


def _same_disk(path: pathlib.Path, other: pathlib.Path) -> bool:
    return path.stat().st_dev == other.stat().st_dev


def _copy(path: pathlib.Path, mill: pathlib.Path) -> None:
    (mill / "raw/dumps/posts.jsonl").write_bytes(path.read_bytes())


if __name__ == "__main__":
    {"clean": clean, "pairs": pairs, "keys": keys}[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:])
