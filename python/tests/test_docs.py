"""The page on Python is typed as it is written, and its table says what the functions return."""

from __future__ import annotations

import inspect
import json
import pathlib
import re

import polars as pl
import pytest
import riddlemill
import riddlemill_text as rt

from conftest import posts

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")


def test_what_the_page_shows_runs_in_its_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(n), "title": text[:5] if n % 2 else None, "content": text} for n, text in enumerate(posts(200))]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    pathlib.Path("posts.jsonl").write_text(lines, encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    # The last is about a workspace and a post of the reader's: its own tests run that.
    typed: dict[str, object] = {}
    for block in blocks:
        if "Workspace" not in block:
            exec(block, typed)
    assert typed["asks"].height > 0 and typed["pairs"].height > 0
    assert len(typed["asking"]) > 0 and typed["judged"]["is_question"][:] == [True, False]
    assert typed["one"].equals(typed["other"])
    assert typed["clean"]["text"].to_list() == ["鱼会口渴吗，我问过它"]
    assert "from riddlemill import Workspace, Busy" in blocks[-1] and hasattr(riddlemill, "Busy")


def functions():
    for line in PAGE.splitlines():
        found = re.match(r"\| `(\w+)\(([^)]*)\)` \| (.*) \|$", line)
        if found and hasattr(rt, found[1]):
            yield found.groups()


@pytest.mark.parametrize(("name", "arguments", "result"), functions())
def test_a_function_has_the_columns_that_the_page_names(name, arguments, result):
    texts = pl.Series(posts(40))
    given = {"a": texts, "b": texts, "texts": texts, "contents": texts, "others": texts, "threshold": None, "metric": "default"}
    words = [word.strip() for word in arguments.split(",") if word.strip() != "…"]
    made = getattr(rt, name)(*(given[word] for word in words if not word.endswith("=")))
    if isinstance(made, pl.DataFrame):
        named = re.findall(r"`(\w+)`", result)
        if "the same" in result:
            named = ["a", "b", "score", "verdict", "predicate", "veto"]
        assert made.columns == named
    else:
        assert "column" in result
    signature = inspect.signature(rt._similar_pairs if name == "similar_pairs" else getattr(rt, name))
    assert {word.rstrip("=") for word in words} <= set(signature.parameters)


def test_the_page_names_every_function():
    named = {name for name, *_ in functions()}
    assert named == {name for name in rt.__all__ if name.islower()}
