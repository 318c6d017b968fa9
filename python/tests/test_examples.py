"""The examples run, and say what is so. The notebook is run by nbmake."""

from __future__ import annotations

import importlib.util
import json
import pathlib
import subprocess
import sys

import polars as pl
import pytest

from conftest import apply, posts

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    path = tmp_path_factory.mktemp("given") / "posts.jsonl"
    rows = [{"id": str(n), "title": text[:7] if n % 3 else None, "content": text} for n, text in enumerate(posts(3000))]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path, rows


def run(name, *args, env=None):
    args = [sys.executable, str(EXAMPLES / name), *map(str, args)]
    done = subprocess.run(args, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def kept_by_the_command(rows):
    given = [{key: value for key, value in row.items() if value is not None} for row in rows]
    cleaned = [row for row in apply("clean", given) if row["outcome"] != "dropped"]
    bare = [{"id": row["id"], "text": row["text"]} for row in cleaned]
    marked = [row for row in apply("anonymise", bare) if row["outcome"] != "held"]
    return [row["id"] for row in apply("filter", marked) if row["outcome"] == "kept"]


def test_datasets_map(given, tmp_path):
    import os

    path, rows = given
    printed = run("datasets_map.py", path, env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"})
    wanted = kept_by_the_command(rows)
    assert f"{len(rows)} posts, {len(wanted)} kept" in printed, printed


def test_near_duplicates_of_a_folder_of_the_hub(tmp_path):
    texts = posts(2000)
    (tmp_path / "data").mkdir()
    for n, part in enumerate((texts[:700], texts[700:])):
        pl.DataFrame({"question": part}).write_parquet(tmp_path / f"data/train-{n:05}-of-00002.parquet")
    printed = run("near_duplicates.py", tmp_path, "question", tmp_path, "indel", "0.8")
    pairs, kept = pl.read_parquet(tmp_path / "pairs.parquet"), pl.read_parquet(tmp_path / "kept.parquet")
    given = [{"id": n, "text": text} for n, text in enumerate(texts)]
    wanted = apply("dedup", given, "--metric", "indel", "--threshold", "0.8", "--pairs", str(tmp_path / "wanted"))
    lines = (tmp_path / "wanted").read_text(encoding="utf-8").splitlines()
    assert pairs.height == len(lines) > 100
    assert kept["question"].to_list() == [row["text"] for row in wanted if row["outcome"] == "kept"]
    both = [(json.loads(line)["a"], json.loads(line)["b"]) for line in lines]
    assert list(zip(pairs["text"], pairs["text_b"])) == [(texts[a], texts[b]) for a, b in both]
    assert f"{len(texts)} rows of 2 files" in printed


def test_polars_chain(given):
    path, rows = given
    spec = importlib.util.spec_from_file_location("polars_chain", EXAMPLES / "polars_chain.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    eager, streamed = (example.query(str(path)).collect(engine=engine) for engine in ("in-memory", "streaming"))
    counts = dict(zip(eager["out"], eager["posts"]))
    assert counts == dict(zip(streamed["out"], streamed["posts"]))
    assert sum(counts.values()) == len(rows) and counts["kept"] > 100 and counts["placeholder"] > 10


def test_every_example_runs_on_a_release_as_it_is(mill, tmp_path):
    """A candidate has the folders of a release: data/CONFIG. Nothing is written there."""
    import os

    release = mill.path / "output/flub/candidate"
    before = sorted(path.relative_to(release) for path in release.rglob("*"))
    rows = [json.loads(line) for line in (release / "data/flub/test.jsonl").read_text(encoding="utf-8").splitlines()]
    env = {**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    assert f"{len(rows)} posts, " in run("datasets_map.py", release, env=env)
    printed = run("near_duplicates.py", release, "text", tmp_path)
    assert f"{len(rows)} rows of 1 files" in printed and (tmp_path / "kept.parquet").exists()
    assert "kept" in run("polars_chain.py", release)
    printed = run("contamination.py", release, "text", release / "compat/FLUB.jsonl", "text")
    assert f"{len(rows)} of {len(rows)} rows" in printed
    assert sorted(path.relative_to(release) for path in release.rglob("*")) == before
