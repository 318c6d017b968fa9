"""Workspaces: the command's verbs, its locks, its words, and what it wrote."""

from __future__ import annotations

import datetime
import fcntl
import json
import logging
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import polars as pl
import pyarrow as pa
import pytest
import riddlemill
from riddlemill import Busy, NotFound, UsageError, Workspace


def test_a_run_and_its_status(mill):
    status = mill.status("flub")
    assert {stage.recipe for stage in status.stages} == {"flub"}
    assert status.stages[0].stage == "import" and status.stages[0].state == "fresh"
    assert not [stage for stage in status.stale if stage.stage in ("import", "clean", "dedup")]
    assert status.next["command"].startswith("riddlemill ") if isinstance(status.next, dict) else status.next
    assert "flub" in str(status) and "import" in str(status)
    assert status.frame().filter(pl.col("stage") == "dedup").height == 1
    again = mill.run("flub", offline=True)
    assert again.recipes[0]["recipe"] == "flub" and again.recipes[0]["rows"] > 0
    with_settings = Workspace(mill.path, settings={"dedup.margin": 0.25}).status("flub")
    assert [s.stage for s in with_settings.stale][:1] == ["dedup"]
    assert "margin" in with_settings.stale[0].why


def test_stages_are_frames(mill):
    stage = mill.stage("filter", "ruozhibench-gen")
    counts = stage.counts
    assert stage.ledger.height == counts["records_in"]
    assert stage.rows.height == counts["records_out"] == stage.manifest["tables"]["rows"]["rows"]
    dropped = stage.ledger.filter(pl.col("outcome") == "dropped")
    assert dropped.height == counts["states"]["dropped"] and dropped["reason"].null_count() == 0
    assert stage.lazy("rows").select("id", "text").collect().columns == ["id", "text"]
    assert isinstance(stage.arrow("rows"), pa.Table)
    assert stage.arrow("ledger").num_rows == stage.ledger.height
    assert "pairs" in mill.stage("dedup", "flub").tables
    assert mill.stage("dedup", "flub").table("pairs").columns[:2] == ["a", "b"]
    assert "review:type" in [stage.name for stage in mill.stages("flub")]
    # What is there goes straight into the functions.
    asks = pl.Series(riddlemill.is_question(stage.rows["text"]))
    assert asks.all()


def test_what_is_not_there_is_reported_with_what_is(mill):
    with pytest.raises(NotFound, match="several recipes have a stage 'filter'"):
        mill.stage("filter")
    with pytest.raises(NotFound) as caught:
        mill.stage("filtr", "flub")
    assert "import" in caught.value.hint
    with pytest.raises(NotFound, match="has no table 'pairs'"):
        mill.stage("filter", "flub").table("pairs")
    with pytest.raises(NotFound, match="flub has no 1.0.0"):
        mill.release("flub", "1.0.0")
    with pytest.raises(LookupError, match="no post matches"):
        mill.explain("there is no such post 12345")


def test_explain_shows_the_path_of_a_post(mill):
    explained = mill.explain("电影院里几百个人都朝着同一个方向看", "ruozhibench-gen")
    way = explained.way()
    assert way["stage"][:5].to_list() == ["import", "clean", "anonymise", "filter", "dedup"]
    assert way.filter(pl.col("stage") == "clean")["reason"].to_list() == ["number"]
    assert "电影院" in str(explained)


def test_releases_are_data_sets(mill, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    candidate = mill.release("flub")
    assert candidate.version == "candidate" and candidate.configs == ["flub"]
    rows = candidate.rows()
    assert rows.height > 0 and rows.height == mill.run("flub", offline=True).recipes[0]["rows"]
    loaded = candidate.dataset()
    assert loaded["test"].num_rows == rows.height
    assert set(loaded["test"].column_names) == set(rows.columns)
    assert {release.recipe for release in mill.releases()} >= {"flub", "chumor", "brainteaser"}
    for release in mill.releases():
        for config in release.configs:
            assert release.rows(config).height > 0, (release, config)


def test_mistakes_are_reported_as_by_the_command(mill, tmp_path):
    with pytest.raises(UsageError) as caught:
        Workspace(mill.path, settings={"dedup.treshold": 3}).status()
    assert caught.value.hint == 'did you mean "dedup.threshold"?' and caught.value.code == 2
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.code) == (UsageError, str(caught.value), 2)
    with pytest.raises(UsageError, match="has no pipeline.toml"):
        Workspace(tmp_path)
    with pytest.raises(UsageError, match="nosuch"):
        mill.run("nosuch")
    with pytest.raises(UsageError, match="clean"):
        mill.run("flub", to="claen")


def test_a_run_takes_the_locks_of_the_command(mill, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(mill.path, copy)
    held = Workspace(copy)
    lock = copy / "staged/flub/.lock"
    assert lock.exists(), "the command keeps its lock there"
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Busy) as caught:
            held.run("flub", offline=True, force=True)
    assert caught.value.code == 5
    held.run("flub", offline=True)


def test_some_input_that_cannot_be_read_is_no_exception(tmp_path, caplog):
    mill = Workspace.init(tmp_path / "mill", empty=True)
    (mill.path / "raw/dumps").mkdir(exist_ok=True)
    (mill.path / "raw/dumps/posts.jsonl").write_text('{"t": "云会恐高吗？"}\nhalf a li\n', encoding="utf-8")
    settings = '\n[[source]]\nname = "posts"\nkind = "table"\npath = "raw/dumps/posts.jsonl"\nfields = { content = "t" }\n'
    with (mill.path / "pipeline.toml").open("a", encoding="utf-8") as file:
        file.write(settings)
    with caplog.at_level(logging.INFO, logger="riddlemill"):
        made = mill.run("flub", to="dedup", offline=True)
    failed = mill.stage("import", "flub").ledger.filter(pl.col("outcome") == "failed")
    assert failed["reason"].to_list() == ["unreadable"]
    assert any("import" in record.message for record in caplog.records)
    assert isinstance(made.complete, bool)


SLOW = """
    import sys
    from riddlemill import Workspace
    mill = Workspace(sys.argv[1])
    print("running", flush=True)
    try:
        mill.run("flub", to="dedup", offline=True)
    except KeyboardInterrupt:
        sys.exit(7)
"""


def test_ctrl_c_ends_a_run_and_the_next_one_goes_on(tmp_path):
    from conftest import posts

    mill = Workspace.init(tmp_path / "mill", empty=True)
    with (mill.path / "raw/dumps/posts.jsonl").open("w", encoding="utf-8") as file:
        for n, text in enumerate(posts(150_000)):
            file.write(json.dumps({"id": str(n), "t": text}, ensure_ascii=False) + "\n")
    with (mill.path / "pipeline.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[source]]\nname = "posts"\nkind = "table"\npath = "raw/dumps/posts.jsonl"\n')
        file.write('fields = { id = "made:{id}", content = "t" }\n')
    args = [sys.executable, "-c", textwrap.dedent(SLOW), str(mill.path)]
    process = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "running\n"
    time.sleep(0.7)
    assert process.poll() is None, "the run was over before it could be interrupted"
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert process.wait(60) == 7
    assert time.monotonic() - started < 10
    # Nobody holds the lock any more, and no process was left behind.
    mill.run("flub", to="clean", offline=True)


def test_the_module_is_the_command():
    printed = subprocess.run([sys.executable, "-m", "riddlemill", "--version"], capture_output=True, text=True, check=True)
    assert printed.stdout.split()[0] == "riddlemill"
    done = subprocess.run([sys.executable, "-m", "riddlemill", "nosuch"], capture_output=True, text=True)
    assert done.returncode == 2
