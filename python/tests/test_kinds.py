"""What comes in as a kind goes out as that kind: written into the caller's table, read back, and filtered."""

from __future__ import annotations

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import riddlemill_text as rt
import riddlemill_text.pandas
import riddlemill_text.polars

TEXTS = ["云会恐高吗？", None, "今天下雨了", "鱼会口渴吗？", "云会恐高吗？"]
ASKS = [True, None, False, True, True]
ASKING = [TEXTS[0], TEXTS[3], TEXTS[4]]
ARROW = pa.array(TEXTS, pa.string())
INDEX = [30, 10, 20, 10, 5]


def of_pandas(**kind):
    texts = pd.Series(TEXTS, index=INDEX, name="t", **kind)

    def check():
        frame = texts.to_frame()
        frame["q"] = rt.is_question(frame["t"])
        assert list(frame.index) == INDEX and frame["q"].dtype == "boolean"
        assert [None if value is pd.NA else bool(value) for value in frame["q"]] == ASKS
        assert list(frame[frame["q"].fillna(False).astype(bool)]["t"]) == ASKING
        assert list(frame[frame["q"]]["t"]) == ASKING
        found = rt.clean(frame["t"])
        assert isinstance(found, pd.DataFrame) and list(found.index) == INDEX
        assert list(frame[(found["outcome"] == "kept").to_numpy()]["t"]) == [text for text in TEXTS if text]
        assert list(rt.dedup(frame["t"])["into"].dropna()) == [0]

    return texts, check


def of_polars(**kind):
    texts = pl.Series("t", TEXTS, **kind)

    def check():
        frame = texts.to_frame().with_columns(rt.is_question(texts).alias("q"))
        assert frame["q"].to_list() == ASKS
        assert frame.filter(pl.col("q"))["t"].to_list() == ASKING
        found = rt.clean(texts)
        assert isinstance(found, pl.DataFrame)
        assert frame.hstack(found.drop("score", "number")).filter(pl.col("outcome") == "kept").height == 4

    return texts, check


def of_pyarrow(texts):
    def check():
        column = rt.is_question(texts)
        assert type(column) is (pa.ChunkedArray if not isinstance(texts, pa.Array) else type(pa.array([True])))
        table = pa.table({"t": ARROW, "q": column})
        assert table["q"].to_pylist() == ASKS
        assert table.filter(table["q"])["t"].to_pylist() == ASKING
        assert isinstance(rt.clean(texts), pa.Table)

    return texts, check


def of_numpy(texts):
    def check():
        asks = rt.is_question(texts)
        assert isinstance(asks, np.ndarray) and asks.tolist() == ASKS
        # Nothing is silently true: numpy refuses a mask with missing values.
        with pytest.raises(IndexError):
            texts[asks]
        there = np.array([text is not None for text in TEXTS])
        asks = rt.is_question(texts[there])
        assert asks.dtype == bool and texts[there][asks].tolist() == ASKING
        found = rt.clean(texts)
        assert texts[found["outcome"] == "kept"].tolist() == [text for text in TEXTS if text]
        assert np.isnan(rt.similarity(texts, texts)[1])

    return texts, check


def of_a_list(make):
    def check():
        asks = rt.is_question(make())
        assert asks == ASKS
        assert [text for text, asked in zip(TEXTS, asks) if asked] == ASKING
        found = rt.clean(make())
        assert [text for text, outcome in zip(TEXTS, found["outcome"]) if outcome == "kept"] == [t for t in TEXTS if t]

    return make(), check


def of_datasets(texts):
    def check():
        data = datasets.Dataset(pa.table({"t": ARROW}))
        asks = rt.is_question(texts)
        assert type(asks) is type(data["t"])
        data = data.add_column("q", list(asks))
        assert data["q"][:] == ASKS
        assert data.filter(lambda row: row["q"])["t"][:] == ASKING
        assert isinstance(rt.clean(texts), datasets.Dataset)

    return texts, check


def every_kind():
    data = datasets.Dataset(pa.table({"t": ARROW}))
    return {
        "list": of_a_list(lambda: list(TEXTS)),
        "tuple": of_a_list(lambda: tuple(TEXTS)),
        "generator": of_a_list(lambda: (text for text in TEXTS)),
        "numpy": of_numpy(np.array(TEXTS, dtype=object)),
        "pandas": of_pandas(),
        "pandas, object": of_pandas(dtype=object),
        "pandas, string": of_pandas(dtype="string"),
        "pandas, pyarrow": of_pandas(dtype="string[pyarrow]"),
        "pandas, categories": of_pandas(dtype="category"),
        "polars": of_polars(),
        "polars, categories": of_polars(dtype=pl.Categorical),
        "pyarrow": of_pyarrow(ARROW),
        "pyarrow, large": of_pyarrow(ARROW.cast(pa.large_string())),
        "pyarrow, dictionary": of_pyarrow(ARROW.dictionary_encode()),
        "pyarrow, chunks": of_pyarrow(pa.chunked_array([ARROW[:2], ARROW[2:2], ARROW[2:]])),
        "pyarrow, table": of_pyarrow(pa.table({"t": ARROW})),
        "pyarrow, batch": of_pyarrow(pa.record_batch({"t": ARROW})),
        "datasets": of_datasets(data["t"]),
        "datasets, whole": of_datasets(data),
    }


@pytest.mark.parametrize("kind", every_kind())
def test_what_comes_in_goes_out_as_that_kind(kind):
    every_kind()[kind][1]()


@pytest.mark.parametrize("form", [None, "numpy", "pandas", "polars", "arrow"])
def test_datasets_map_takes_what_a_function_returns(form, tmp_path):
    data = datasets.Dataset(pa.table({"t": pa.array([text or "" for text in TEXTS])})).with_format(form)
    mapped = data.map(lambda batch: rt.judge(batch["t"]), batched=True, batch_size=2).with_format(None)
    assert mapped["is_question"][:] == [True, False, False, True, True], form
    if form in (None, "numpy"):
        mapped = data.map(lambda batch: {"q": rt.is_question(batch["t"])}, batched=True, batch_size=2)
        assert [bool(asked) for asked in mapped.with_format(None)["q"][:]] == [True, False, False, True, True]


def test_namespaces_of_polars_and_pandas():
    frame = pl.DataFrame({"t": TEXTS})
    found = frame.lazy().with_columns(q=pl.col("t").riddlemill.is_question(), c=pl.col("t").riddlemill.clean()).collect()
    assert found["q"].to_list() == ASKS
    assert found.unnest("c")["text"].to_list() == rt.clean(TEXTS)["text"]
    assert frame["t"].riddlemill.is_question().to_list() == ASKS
    texts = pd.Series(TEXTS, index=INDEX)
    assert list(texts.riddlemill.is_question().index) == INDEX
    assert list(texts.riddlemill.clean()["text"].dropna()) == [text for text in TEXTS if text]
    pairs = texts.riddlemill.similar_pairs()
    assert (pairs["a"].to_list(), pairs["b"].to_list()) == ([0], [4])
    with pytest.raises(AttributeError, match="has no texts"):
        pd.Series([1, 2]).riddlemill


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), r"columns a, b(.|\n)*table\[\"text\"\]"),
        (pl.DataFrame({"a": ["x"], "b": ["y"]}), r"columns a, b(.|\n)*table\[\"text\"\]"),
        (pl.LazyFrame({"a": ["x"]}), "has no rows yet(.|\n)*riddlemill_text.polars"),
        (pl.col("a"), "has no rows yet(.|\n)*pl.col"),
        (np.array([["a"], ["b"]]), "2 dimensions"),
        (datasets.Dataset(pa.table({"a": ["x"], "b": ["y"]})), "columns a, b"),
        (datasets.Dataset(pa.table({"a": ["x"]})).to_iterable_dataset(), "map"),
        (datasets.DatasetDict({"train": datasets.Dataset(pa.table({"a": ["x"]}))}), "map"),
    ],
)
def test_what_has_no_kind_is_refused_with_a_sentence(given, says):
    with pytest.raises(TypeError, match=says):
        rt.is_question(given)


def test_pairs_between_two_columns(tmp_path):
    texts, others = ["云会恐高吗？", "鱼会口渴吗？", None], ["鱼会口渴吗？", "云会恐高吗？", "云会恐高吗？"]
    found = rt.similar_pairs(texts, others)
    assert list(zip(found["a"], found["b"])) == [(0, 1), (0, 2), (1, 0)]
    assert rt.similar_pairs(texts, others=others) == found
    assert rt.similar_pairs(pl.Series(texts), pd.Series(others)).to_dict(as_series=False) == found
    assert rt.similar_pairs(texts, others, on_disk=tmp_path, memory_mib=1) == found
    assert not list(tmp_path.iterdir())
