"""What comes in decides what goes out: a column of pandas gives a column of pandas with the same index, and so on.

A library is imported only if the texts are its own: whoever has a column of it has imported it.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable, Iterable, Union

# Makes what the caller gets of an Arrow column or table.
Give = Callable[[Any], Any]


def taken(texts: Any) -> tuple[Any, Give, Give]:
    """What the compiled functions read of texts; and what makes their results of the same kind: of a column or table with a row
    for each text, and of a table with rows of its own."""
    for take in (_of_pandas, _of_polars, _of_pyarrow, _of_numpy, _of_datasets):
        found = take(texts)
        if found is not None:
            return found
    if hasattr(texts, "__arrow_c_array__") or hasattr(texts, "__arrow_c_stream__"):
        return texts, _same, _same
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        # The compiled functions say what is wrong.
        return texts, _same, _same
    return texts, _lists, _lists


def beside(column: Any) -> Any:
    """A further column, as the compiled functions read it."""
    return column if column is None else taken(column)[0]


def values(column: Any) -> list[Any]:
    """The values of a column of any library."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def columns(table: Any) -> dict[str, Any]:
    """The columns of an Arrow table, by name."""
    return {name: table.column(name) for name in table.column_names}


def is_table(result: Any) -> bool:
    return hasattr(result, "column_names")


def one_column(kind: str, names: Iterable[object]) -> None:
    """Refuses a table that is not one column."""
    found = [str(name) for name in names]
    if len(found) != 1:
        raise TypeError(
            f"a {kind} has the columns {', '.join(found)}; expected one column of texts\n  hint: pass one of them, as table[\"text\"]"
        )


def _library(texts: Any, name: str) -> Any:
    """The library, if the texts are of one of its classes. Another thread may be importing it for reasons of its own, so it is not
    enough to find it among the modules."""
    own = any(kind.__module__.split(".")[0] == name for kind in type(texts).__mro__)
    return importlib.import_module(name) if own else None


def _same(result: Any) -> Any:
    return result


def _lists(result: Any) -> Union[list[Any], dict[str, list[Any]]]:
    if is_table(result):
        return {name: values(column) for name, column in columns(result).items()}
    return values(result)


def _of_pandas(texts: Any) -> tuple[Any, Give, Give] | None:
    pd = _library(texts, "pandas")
    if pd is None or not isinstance(texts, (pd.Series, pd.DataFrame, pd.Index)):
        return None
    if isinstance(texts, pd.DataFrame):
        one_column("DataFrame", texts.columns)
        texts = texts.iloc[:, 0]
    # A column of an index has no index of its own.
    index = texts.index if isinstance(texts, pd.Series) else None
    name = texts.name

    def series(column: Any, index: Any, name: Any) -> Any:
        kind = _kind(column)
        # With missing values and without: pandas' own types for them, because an object is always true in a mask.
        dtype = {"bool": "boolean", "int": "Int64", "float": "float64"}.get(kind)
        return pd.Series(values(column), index=index, name=name, dtype=dtype or _texts_of(pd))

    def give(result: Any, index: Any = index) -> Any:
        if not is_table(result):
            return series(result, index, name)
        made = {key: series(column, index, key) for key, column in columns(result).items()}
        return pd.DataFrame(made, index=index)

    return texts, give, lambda result: give(result, None)


def _texts_of(pd: Any) -> Any:
    """The type of texts of this version of pandas."""
    return pd.Series([""]).dtype


def _kind(column: Any) -> str:
    name = str(column.type).lower()
    for kind, words in (("bool", ("bool",)), ("int", ("int",)), ("float", ("float", "double"))):
        if any(word in name for word in words):
            return kind
    return "text"


def _of_polars(texts: Any) -> tuple[Any, Give, Give] | None:
    pl = _library(texts, "polars")
    if pl is None:
        return None
    if isinstance(texts, (pl.Expr, pl.LazyFrame)):
        raise TypeError(
            "texts is an expression or a lazy frame, which has no rows yet\n"
            "  hint: import riddlemill_text.polars; pl.col(\"text\").riddlemill.clean()"
        )
    if isinstance(texts, pl.DataFrame):
        one_column("DataFrame", texts.columns)
        texts = texts.to_series()
    if not isinstance(texts, pl.Series):
        return None

    def give(result: Any) -> Any:
        return pl.DataFrame(result) if is_table(result) else pl.Series(texts.name, result)

    return texts, give, give


def _of_pyarrow(texts: Any) -> tuple[Any, Give, Give] | None:
    pa = _library(texts, "pyarrow")
    if pa is None or not isinstance(texts, (pa.Array, pa.ChunkedArray, pa.Table, pa.RecordBatch)):
        return None

    def give(result: Any) -> Any:
        if is_table(result):
            return pa.table(result)
        column = pa.chunked_array(result)
        return pa.concat_arrays(column.chunks) if isinstance(texts, pa.Array) else column

    return texts, give, give


def _of_numpy(texts: Any) -> tuple[Any, Give, Give] | None:
    np = _library(texts, "numpy")
    if np is None or not isinstance(texts, np.ndarray):
        return None
    if texts.ndim != 1:
        raise TypeError(f"texts is an array of {texts.ndim} dimensions; expected one column\n  hint: array[:, 0]")

    def array(column: Any) -> Any:
        found, kind = values(column), _kind(column)
        if kind == "float":
            return np.array([np.nan if value is None else value for value in found], dtype=float)
        # With a missing value it is an array of objects, which numpy refuses as a mask.
        whole = kind in ("bool", "int") and None not in found
        return np.array(found, dtype={"bool": bool, "int": int}[kind] if whole else object)

    def give(result: Any) -> Any:
        if is_table(result):
            return {name: array(column) for name, column in columns(result).items()}
        return array(result)

    return texts, give, give


def _of_datasets(texts: Any) -> tuple[Any, Give, Give] | None:
    ds = _library(texts, "datasets")
    if ds is None:
        return None
    lazy = tuple(getattr(ds, name) for name in ("IterableDataset", "IterableDatasetDict", "DatasetDict") if hasattr(ds, name))
    if isinstance(texts, lazy):
        raise TypeError(
            f"texts is a {type(texts).__name__}; expected one column of texts\n"
            "  hint: data.map(lambda batch: rt.clean(batch[\"text\"]), batched=True)"
        )
    # A column as `data["text"]` gives it is a class of its own in newer versions, and a list in older ones.
    is_column = type(texts).__module__.startswith("datasets.") and type(texts).__name__ in ("Column", "IterableColumn")
    if not isinstance(texts, ds.Dataset) and not is_column:
        return None
    if isinstance(texts, ds.Dataset):
        one_column("Dataset", texts.column_names)
        texts = texts[texts.column_names[0]]
    if type(texts).__name__ == "IterableColumn":
        raise TypeError(
            "texts is a column of a streamed data set, which has no rows yet\n"
            "  hint: data.map(lambda batch: rt.clean(batch[\"text\"]), batched=True)"
        )
    import pyarrow as pa

    def give(result: Any) -> Any:
        if is_table(result):
            return ds.Dataset(pa.table(result))
        return ds.Dataset(pa.table({"found": pa.chunked_array(result)}))["found"]

    return texts, give, give
