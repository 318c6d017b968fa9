"""Columns of every library are taken alike, and nothing else is taken for one."""

from __future__ import annotations

import tempfile

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import riddlemill_text as rt

from conftest import posts

TEXTS = [*posts(60), None, "云会恐高吗？"]
ARROW = pa.array(TEXTS, pa.string())


def every_kind():
    relation = duckdb.from_arrow(pa.table({"text": ARROW}))
    return {
        "list": TEXTS,
        "tuple": tuple(TEXTS),
        "generator": (text for text in TEXTS),
        "numpy": np.array(TEXTS, dtype=object),
        "pyarrow": ARROW,
        "pyarrow, sliced": pa.concat_arrays([pa.array(["x"]), ARROW])[1:],
        "pyarrow, large": ARROW.cast(pa.large_string()),
        "pyarrow, view": ARROW.cast(pa.string_view()),
        "pyarrow, dictionary": ARROW.dictionary_encode(),
        "pyarrow, chunks": pa.chunked_array([ARROW[:10], ARROW[10:10], ARROW[10:]]),
        "pyarrow, table": pa.table({"text": ARROW}),
        "pyarrow, batch": pa.record_batch({"text": ARROW}),
        "polars": pl.Series(TEXTS),
        "polars, categories": pl.Series(TEXTS, dtype=pl.Categorical),
        "polars, frame": pl.DataFrame({"text": TEXTS}),
        "pandas": pd.Series(TEXTS),
        "pandas, object": pd.Series(TEXTS, dtype=object),
        "pandas, pyarrow": pd.Series(TEXTS, dtype="string[pyarrow]"),
        "duckdb": relation,
        "datasets": datasets.Dataset(pa.table({"text": ARROW}))["text"],
        "datasets, arrow": datasets.Dataset(pa.table({"text": ARROW})).with_format("arrow")["text"],
    }


@pytest.mark.parametrize("kind", every_kind())
def test_columns_of_every_library_are_taken_alike(kind):
    wanted = pa.table(rt.clean(ARROW)).to_pylist()
    found = rt.clean(every_kind()[kind])
    if isinstance(found, datasets.Dataset):
        found = found.data.table
    elif isinstance(found, (dict, pd.DataFrame)):
        # Numbers that are missing are not a number in numpy and pandas.
        found = {name: pa.array(column, from_pandas=True) for name, column in found.items()}
    assert pa.table(found).to_pylist() == wanted
    assert len(wanted) == len(TEXTS)


def test_what_comes_back_goes_into_every_library():
    # As DuckDB and arro3 get it, which have no kind of their own here.
    found = rt.clean(duckdb.from_arrow(pa.table({"text": ARROW})))
    names = ["text", "outcome", "reason", "evidence", "score", "number"]
    assert pa.table(found).column_names == names
    assert pl.DataFrame(found).columns == names
    assert list(pd.DataFrame.from_arrow(found).columns) == names
    assert duckdb.from_arrow(pa.table(found)).columns == names
    assert duckdb.sql("select count(*) from found").fetchall() == [(len(TEXTS),)]
    assert pl.Series(rt.is_question(ARROW)).dtype == pl.Boolean
    assert pa.chunked_array(rt.normalize(ARROW)).type == pa.string()
    assert list(pd.Series.from_arrow(rt.is_question(ARROW)))[-1]


def test_nothing_is_copied_on_the_way_in():
    """The bytes of a column are looked at where the library has them: half a gigabyte more would show."""
    texts = pa.chunked_array([pa.array(["云鱼高飞天" * 2000] * 1000)] * 16)
    assert texts.nbytes > 480_000_000
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert rt.is_question(texts).null_count == 0
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < texts.nbytes / 4


def test_empty_columns_have_their_columns():
    assert rt.clean([])["text"] == rt.is_question([]) == rt.dedup([])["into"] == []
    for empty in (pa.array([], pa.string()), pl.Series([], dtype=pl.String)):
        assert pa.table(rt.clean(empty)).num_rows == 0
        assert pa.table(rt.clean(empty)).column_names[0] == "text"
        assert pa.table(rt.similar_pairs(empty)).num_rows == 0
        assert pa.table(rt.dedup(empty)).num_rows == 0
    assert rt.is_question(pa.array([], pa.string())).type == pa.bool_()
    assert rt.is_question(pl.Series([], dtype=pl.String)).dtype == pl.Boolean
    assert rt.is_question(pa.nulls(3)).to_pylist() == [None] * 3


DEDUP = rt.PartedDedup(metric="default", threshold=None, margin=0.0, keep="longest", normalize=True, language="zh")


def may_be_alike(texts):
    blocks = DEDUP.keyer(DEDUP.count(texts)).blocks(list(range(len(texts))), texts, 1, "1/1", [])
    return DEDUP.pairs([block for _, block in blocks])


def resolved(texts):
    """The first text goes into the second, where there are any."""
    pair = {"from": 0, "from_rank": "b", "into": 1, "into_rank": "a", "verdict": "same", "score": 0.9, "predicate": "near"}
    batches = pa.Table.from_pylist([pair] if len(texts) else []).to_batches()
    with tempfile.TemporaryDirectory() as folder:
        return DEDUP.resolve(batches, folder, 1)


def test_a_text_takes_its_language_along():
    texts, languages = ["Why don't fish drown?", "鱼会口渴吗", "Why don't fish drown?"], ["en", "zh", None]
    dedup = rt.PartedDedup(metric="default", threshold=None, margin=0.0, keep="longest", normalize=True, language=None)
    tagged = pa.chunked_array(dedup.tagged(texts, languages))
    assert tagged[0] == tagged[2] != texts[0] and tagged[1].as_py() == texts[1]
    assert pa.chunked_array(dedup.untagged(tagged)).to_pylist() == texts


@pytest.mark.parametrize(
    "made",
    [
        rt.clean,
        rt.judge,
        rt.is_question,
        rt.anonymise,
        rt.filter,
        rt.normalize,
        lambda texts: rt.similarity(texts, texts),
        lambda texts: rt.compare(texts, texts),
        rt.similar_pairs,
        rt.dedup,
        lambda texts: DEDUP.ranks(texts, texts, [None] * len(texts), texts),
        lambda texts: DEDUP.tagged(texts, ["en"] * len(texts)),
        DEDUP.untagged,
        DEDUP.digests,
        may_be_alike,
        lambda texts: DEDUP.compare(texts, texts, b""),
        resolved,
    ],
)
def test_no_rows_have_the_columns_and_types_of_many(made):
    """Whoever puts parts together, some of them empty, needs the same columns of each."""
    none, many = made(pa.chunked_array([], pa.string())), made(pa.chunked_array([posts(60)]))
    if hasattr(none, "column_names"):
        assert pa.table(none).schema == pa.table(many).schema
        assert pa.table(none).num_columns > 1
    else:
        assert pa.chunked_array(none).type == pa.chunked_array(many).type


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("云会恐高吗", "pass a list of it"),
        ([1, 2], r"texts\[0\] is a int, not a text"),
        (["a", b"b"], r"texts\[1\] is a bytes"),
        (7, "a list of strings"),
        (pa.array([1, 2]), "texts is a column of Int64"),
        (pl.Series([[1]]), "expected texts"),
        (pa.table({"a": ["x"], "b": ["y"]}), r"columns a, b(.|\n)*table\[\"text\"\]"),
    ],
)
def test_what_is_no_column_of_texts_is_refused(given, says):
    with pytest.raises(TypeError, match=says):
        rt.is_question(given)


def test_bytes_that_are_no_text_are_refused():
    offsets, data = pa.py_buffer(np.array([0, 3], np.int32)), pa.py_buffer(b"\xff\xfe\xfd")
    bad = pa.Array.from_buffers(pa.string(), 1, [None, offsets, data])
    with pytest.raises(ValueError, match="[Uu][Tt][Ff]"):
        rt.clean(bad)


def test_columns_beside_have_as_many_rows():
    with pytest.raises(ValueError, match="titles has 1 rows, but the texts have 2"):
        rt.clean(["a", "b"], titles=["a"])
    with pytest.raises(ValueError, match="b has 1 rows"):
        rt.similarity(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="mentions has 1 rows"):
        rt.anonymise(["a", "b"], mentions=[["x"]])
    with pytest.raises(ValueError, match=r"ids\[1\] is missing"):
        rt.dedup(["a", "b"], ids=["x", None])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: rt.similar_pairs(["a"], 0.8, "indle"), 'unknown metric "indle"(.|\n)*did you mean "indel"'),
        (lambda: rt.similar_pairs(["a"], 0.8), "thresholds of its own(.|\n)*name a metric"),
        (lambda: rt.similar_pairs(["a"], 1.5, "indel"), "at most 1, not 1.5"),
        (lambda: rt.similar_pairs(["a"], float("nan"), "indel"), "not NaN"),
        (lambda: rt.dedup(["a"], keep="longer"), 'unknown keep "longer"'),
        (lambda: rt.clean(["a"], language="jp"), 'unknown language "jp"'),
        (lambda: rt.anonymise(["a"], links="delete"), 'unknown links "delete"'),
        (lambda: rt.similar_pairs(["云会恐高"] * 1000, max_pairs=1000), "499500 pairs(.|\n)*dedup"),
    ],
)
def test_settings_that_do_not_exist_are_refused_with_a_hint(call, says):
    with pytest.raises(ValueError, match=says):
        call()


def test_a_list_that_is_not_there_is_an_os_error():
    with pytest.raises(OSError, match="nowhere.txt"):
        rt.anonymise(["a"], policy=["nowhere.txt"])
