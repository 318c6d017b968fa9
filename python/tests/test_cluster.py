"""Stages that are made in tasks are those of one machine, byte for byte."""

from __future__ import annotations

import gzip
import json
import pathlib
import shutil
import subprocess
import sys
from collections import Counter
from typing import Any, Iterable

import fsspec
import pytest
import riddlemill
from riddlemill import cluster
from riddlemill.cluster import _files, _plan, sizes

from conftest import posts

SOURCE = """
[[source]]
name = "posts"
kind = "table"
path = "raw/dumps/part-*"
fields = { id = "made:{id}", content = "text", score = "score" }
[filter]
questions = false
"""


def workspace(folder: pathlib.Path, texts: list[str], more: str = "") -> riddlemill.Workspace:
    """Posts in three dumps, with ids that came before and lines that are none."""
    mill = riddlemill.Workspace.init(folder, empty=True)
    rows = [{"id": f"{n}", "text": text, "score": n % 3} for n, text in enumerate(texts)]
    for n in range(3):
        part = rows[n * len(rows) // 3 : (n + 1) * len(rows) // 3]
        again = [{**row, "text": row["text"] + "?" * (at % 2)} for at, row in enumerate(rows[: 7 * n])]
        lines = [json.dumps(row, ensure_ascii=False).encode() for row in part + again]
        if n == 1:
            lines[3:3] = [b'{"id": "half a line', b"", "生鱼片".encode("gb18030"), b"\x00\xff"]
        (mill.path / f"raw/dumps/part-{n}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    with (mill.path / "pipeline.toml").open("a", encoding="utf-8") as settings:
        settings.write(SOURCE + more)
    return mill


def staged(mill: riddlemill.Workspace) -> dict[str, bytes]:
    folder = mill.path / "staged"
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def same(tmp_path: pathlib.Path, mill: riddlemill.Workspace, engine: cluster.Engine, work: str, **more: Any) -> int:
    """Makes the stages in both ways, and says how many posts went into others."""
    alone = tmp_path / "alone"
    shutil.copytree(mill.path, alone)
    job = cluster.Job(mill.path, "flub", work, engine, **more)
    heard: list[str] = []
    job.run(heard.append)
    assert "one machine is enough" in heard[0] and heard[0].endswith("; going on")
    assert heard[1:3] == ["flub/census", "flub/import"] and heard[-1] == "flub/book"
    # The salt was drawn by whoever came first.
    shutil.copy(mill.path / "raw/salt", alone / "raw/salt")
    one = riddlemill.Workspace(alone)
    one.run("flub", to="dedup", offline=True)
    want, got = staged(one), staged(mill)
    assert sorted(path for path in want.keys() | got.keys() if want.get(path) != got.get(path)) == []
    mill.audit("flub")
    counts = json.loads(want["flub/05_dedup/manifest.json"])["counts"]
    return int(counts["states"].get("merged", 0))


INDEL = '[dedup]\nmetric = "indel"\nthreshold = 0.7\n[recipe.flub.dedup]\nkeep = "best-scored"\n'


@pytest.mark.parametrize("metric", ["", INDEL])
def test_tasks_make_what_a_run_makes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    monkeypatch.setattr(sizes, "CHUNK", 64)
    monkeypatch.setattr(sizes, "CUT", 16)
    mill = workspace(tmp_path / "mill", posts(600), metric)
    merged = same(tmp_path, mill, cluster.Local(2), str(tmp_path / "work"), lanes=5)
    assert merged > 20


def test_english_is_compared_as_english(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "CHUNK", 8)
    who = ["a fish", "my neighbour", "the doctor", "a thief", "the moon", "an umbrella"]
    english = [f"Why does {one} never ask {other} for directions at night?" for one in who for other in who]
    english += [text.replace("never ask", "never asks") + " Just wondering." for text in english[::5]]
    mill = workspace(tmp_path / "mill", [*posts(40), *english])
    assert same(tmp_path, mill, cluster.Local(2), str(tmp_path / "work"), lanes=3) > 5


def test_keys_in_shares_and_those_of_many_rows_split(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "CHUNK", 100)
    monkeypatch.setattr(sizes, "SAMPLE", 2)
    mill = workspace(tmp_path / "mill", posts(500))
    assert same(tmp_path, mill, cluster.Local(2), str(tmp_path / "work"), lanes=3, split=8, rounds=3) > 20
    heavy = json.loads(next((tmp_path / "work").rglob("heavy")).read_bytes())
    assert heavy and all(shards > 1 for _, _, shards in heavy)


def test_no_posts_are_no_mistake(tmp_path: pathlib.Path) -> None:
    assert same(tmp_path, workspace(tmp_path / "mill", []), cluster.Local(1), str(tmp_path / "work")) == 0


def test_dumps_and_work_in_another_file_system(tmp_path: pathlib.Path) -> None:
    mill = workspace(tmp_path / "mill", posts(200))
    memory = fsspec.filesystem("memory")
    memory.put(f"{mill.path}/raw/", "/bucket/raw/", recursive=True)
    assert same(tmp_path, mill, cluster.Local(2), "memory://bucket/work", dumps="memory://bucket") > 5


class Forgetful(cluster.Local):
    """Makes every task and step twice, and hands on what it made the second time, in another order."""

    def run(self, plan: cluster.Plan, phase: cluster.Phase) -> Iterable[bytes]:
        made = []
        for number in reversed(range(phase.tasks)):
            list(cluster.run_task(plan, phase.first, number))
            made += cluster.run_task(plan, phase.first, number)
        for step, lanes in phase.steps:
            assert all(0 <= lane < max(1, lanes) for lane, _ in made), step
            given: dict[int, list[bytes]] = {}
            for lane, block in reversed(made):
                given.setdefault(lane, []).append(block)
            made = []
            for lane, blocks in given.items():
                first = list(cluster.run_step(plan, step, lane, blocks))
                assert first == list(cluster.run_step(plan, step, lane, blocks))
                made += first
        return [block for _, block in made]


def test_a_task_that_is_made_again_changes_nothing(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "CHUNK", 50)
    mill = workspace(tmp_path / "mill", posts(240))
    assert same(tmp_path, mill, Forgetful(), str(tmp_path / "work"), lanes=2) > 5


class Watched(cluster.Local):
    """Notes the plan and the name of each phase."""

    def __init__(self) -> None:
        super().__init__(2)
        self.phases: list[tuple[str, cluster.Plan]] = []

    def run(self, plan: cluster.Plan, phase: cluster.Phase) -> Iterable[bytes]:
        self.phases.append((phase.name, plan))
        return super().run(plan, phase)


def test_two_who_read_a_file_in_memory_have_a_position_each() -> None:
    fsspec.filesystem("memory").pipe_file("/positions/dump", b"abcdef")
    plan = _plan.Plan("flub", "memory://positions/work", (), (), (), (), 1, 1, 1, "")
    with _files.opened(plan, "memory://positions/dump") as first, _files.opened(plan, "memory://positions/dump") as second:
        assert first.read(3) == b"abc"
        with _files.fetched(plan, "memory://positions/dump") as local:
            assert pathlib.Path(local).read_bytes() == b"abcdef"
        assert (second.read(), first.read()) == (b"abcdef", b"def")


def test_every_engine_has_the_arguments_of_a_job(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    mill, engine = workspace(tmp_path / "mill", posts(200)), Watched()
    fsspec.filesystem("memory").put(f"{mill.path}/raw/", "/elsewhere/raw/", recursive=True)
    args = ["--recipe", "flub", "--workspace", str(mill.path), "--work", "memory://elsewhere/mill", "--dumps", "memory://elsewhere"]
    args += ["--storage", '{"skip_instance_cache": true}', "--lanes", "7", "--split", "30", "--rounds", "2", "--piece", "4000"]
    cluster.run_job(cluster.arguments("A job.").parse_args(args), engine)
    phases = [name for name, _ in engine.phases]
    assert phases == ["census", "import", "rows", "counts", "heavy", "pairs 1/2", "pairs 2/2", "resolve", "book"]
    told, *done = capsys.readouterr().err.splitlines()
    assert told.startswith("flub: about 2") and "one machine is enough" in told
    assert done == [f"flub/{name}" for name in phases]
    plan = engine.phases[-1][1]
    assert (plan.lanes, plan.split, plan.rounds) == (7, 30, 2)
    assert (plan.work, plan.storage) == ("memory://elsewhere/mill/flub", '{"skip_instance_cache": true}')
    assert all(dump.place.startswith("memory://elsewhere/raw/dumps/part-") for dump in plan.dumps)
    assert all(0 < piece.bytes < 5000 for piece in plan.pieces) and len(plan.pieces) > len(plan.dumps)
    with pytest.raises(SystemExit):
        cluster.arguments("A job.").parse_args([*args, "--rounds", "0"])
    assert "0 is less than 1" in capsys.readouterr().err


PIECES = """
[[source]]
name = "gzip"
kind = "table"
path = "raw/dumps/gzip-*"
fields = { id = "made:{id}", content = "text", author = "author" }
[[source]]
name = "threads"
kind = "thread-dump"
path = "raw/dumps/threads.jsonl"
[[source]]
name = "pages"
kind = "warc"
path = "raw/dumps/pages-*"
[import]
max_line_mib = 1
annual_posts = 4
"""


def page(number: int, more: str = "") -> bytes:
    """A record of an archive, with a page that has no posts."""
    return record(f"http://a.example/{number}", f"<p>{more or 'x' * 300}</p>".encode())


def record(address: str, html: bytes) -> bytes:
    """A record of an archive, with this page."""
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {address}\r\nContent-Length: {len(block)}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


def hostile(mill: riddlemill.Workspace) -> None:
    """Dumps of every kind that is cut, and some that seem to be."""
    texts = posts(120)
    people = ["云中白鹤生", "甲乙", "雨神17号"]
    rows = [{"id": f"{n}", "text": f"{text}{people[n % 3]}", "author": people[n % 2]} for n, text in enumerate(texts)]
    lines = [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows]
    # Over-long, repeated and torn lines; a mark of byte order, CRLF.
    first = [b"\xef\xbb\xbf" + lines[0], *lines[1:60], b"x" * (1 << 20) + b"yz\n", *lines[5:20], b"\n", lines[70][:-9]]
    (mill.path / "raw/dumps/part-8.jsonl").write_bytes(b"".join(first).replace(b"\n", b"\r\n"))
    groups = [b"".join(lines[n : n + 7]) for n in range(0, 120, 7)]
    (mill.path / "raw/dumps/gzip-lines.gz").write_bytes(b"".join(map(gzip.compress, groups)))
    whole = b"".join(lines)
    cut = [whole[n : n + 900] for n in range(0, len(whole), 900)]
    (mill.path / "raw/dumps/gzip-within.gz").write_bytes(b"".join(map(gzip.compress, cut)))
    (mill.path / "raw/dumps/gzip-one.gz").write_bytes(gzip.compress(whole, 0))
    # A member in a member that is stored as it is.
    inner = gzip.compress(b'{"id": 7, "text": "no"}\n' * 50, 0)
    stored = [gzip.compress(groups[0]), gzip.compress(inner, 0), gzip.compress(whole)]
    (mill.path / "raw/dumps/gzip-stored.gz").write_bytes(b"".join(stored))
    (mill.path / "raw/dumps/gzip-torn.gz").write_bytes(b"".join(map(gzip.compress, groups))[:-20])
    (mill.path / "raw/dumps/gzip-array.json").write_bytes(b"[" + b",".join(lines) + b"]")
    threads = [
        {
            "tid": n % 3,
            "pid": n,
            "floor": 1 if n in (80, 100, 150) else 2 + n,
            "user_name": people[n % 3],
            "text": [f"{n}、{text} 4.5", f"注：{text}", f"问甲乙和雨神17号，{text}"][n // 3 % 3],
        }
        for n, text in enumerate(texts * 2)
    ]
    dumped = b"".join(json.dumps(post, ensure_ascii=False).encode() + b"\n" for post in threads)
    (mill.path / "raw/dumps/threads.jsonl").write_bytes(dumped)
    # One of them has posts: an archive without any is a finding of the source, which pieces do not know.
    thread = pathlib.Path(__file__).parents[2] / "tests/fixtures/pages/thread-p1.html"
    pages = [page(n) for n in range(30)] + [record("https://tieba.baidu.com/p/900001", thread.read_bytes())]
    (mill.path / "raw/dumps/pages-plain.warc").write_bytes(b"".join(pages))
    (mill.path / "raw/dumps/pages-packed.warc.gz").write_bytes(b"".join(map(gzip.compress, pages)))
    text = "of archives:\r\nWARC/1.0\r\nWARC-Type: response\r\n\r\n" * 30
    (mill.path / "raw/dumps/pages-text.warc").write_bytes(page(1, text) + page(2) + page(3, text) + page(4))


@pytest.mark.parametrize("piece", [900, 4000])
def test_large_dumps_are_read_in_pieces(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(sizes, "CHUNK", 50)
    mill, engine = workspace(tmp_path / "mill", posts(90), PIECES), Watched()
    hostile(mill)
    same(tmp_path, mill, engine, str(tmp_path / "work"), lanes=3, piece=piece)
    plan = engine.phases[-1][1]
    names = [plan.dumps[one.dump].file for one in plan.pieces]
    count = Counter(names)
    small = ("part-0.jsonl", "gzip-torn.gz", "pages-packed.warc.gz") if piece == 900 else ()
    for name in ("part-8.jsonl", "gzip-lines.gz", "threads.jsonl", "pages-plain.warc", *small):
        assert count[name] > 1, (name, count)
    for name in ("gzip-within.gz", "gzip-one.gz", "gzip-array.json"):
        assert count[name] == 1, (name, count)
    if piece == 900:
        assert count["pages-text.warc"] == count["gzip-stored.gz"] == 1
    # None is missing, and none overlaps.
    for number, dump in enumerate(plan.dumps):
        own = [one for one in plan.pieces if one.dump == number]
        assert own[0].offset == 0 and sum(one.bytes for one in own) == dump.bytes
        assert all(one.offset + one.bytes == after.offset for one, after in zip(own, own[1:]))


def test_arrays_of_slurm_need_a_folder(tmp_path: pathlib.Path) -> None:
    script = pathlib.Path(__file__).parents[2] / "cluster/riddlemill_slurm.py"
    command = [sys.executable, str(script), "--recipe", "flub", "--work", "s3://bucket/work"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "--work s3://bucket/work: arrays need a folder that all nodes see" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_the_command_refuses_is_raised(tmp_path: pathlib.Path) -> None:
    mill = workspace(tmp_path / "mill", posts(20))
    with (mill.path / "pipeline.toml").open("a", encoding="utf-8") as settings:
        settings.write("[dedup]\nmetrik = 3\n")
    with pytest.raises(riddlemill.UsageError, match="metrik"):
        cluster.Job(mill.path, "flub", str(tmp_path / "work"), cluster.Local(1)).run()


def test_the_outlook_follows_what_was_measured(tmp_path: pathlib.Path) -> None:
    from riddlemill.cluster._outlook import cpu_seconds_of_run, outlook, posts_of

    for posts_there, seconds in sizes.MEASURED:
        assert cpu_seconds_of_run(posts_there) == pytest.approx(seconds)
    figures = [cpu_seconds_of_run(count) for count in (0, 20_000, 200_000, 500_000, 5_000_000, 50_000_000)]
    assert figures == sorted(figures) and figures[0] == 0 and 0.5 < figures[1] < 0.8
    assert "20,000 posts: one machine is enough" in outlook("flub", 20_000, 2)
    assert "0.7 seconds of CPU time, 0.3 seconds on 2 cores" in outlook("flub", 20_000, 2)
    assert "more than the 10,000,000" in outlook("flub", 30_000_000, 2) and "enough" not in outlook("flub", 30_000_000, 2)
    path = tmp_path / "dump"
    path.write_bytes(b'{"text": "x"}\n' * 100_000)
    dump = _plan.Dump("s", "f", str(path), path.stat().st_size, "line")
    assert posts_of([(dump, str(path))]) == 100_000
    assert posts_of([(dump, str(tmp_path / "gone"))]) == round(dump.bytes / sizes.POST)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"work": "nowhere://bucket/work"}, "--work nowhere://bucket/work(.|\n)*does not know nowhere://"),
        ({"work": "hf://datasets/a/b/work"}, "--work hf://(.|\n)*--dumps may be there"),
        ({"work": "{tmp}/work", "dumps": "nowhere://bucket"}, "--dumps nowhere://bucket"),
    ],
)
def test_a_place_that_cannot_be_reached_is_told_before_anything_is_done(
    tmp_path: pathlib.Path, arguments: dict[str, str], says: str
) -> None:
    mill = workspace(tmp_path / "mill", posts(10))
    work = arguments["work"].format(tmp=tmp_path)
    job = cluster.Job(mill.path, "flub", work, cluster.Local(1), dumps=arguments.get("dumps"))
    with pytest.raises(riddlemill.UsageError, match=says):
        job.run()
    assert not (tmp_path / "work").exists()
