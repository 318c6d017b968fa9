"""The functions as Polars expressions, for streaming queries.

    import riddlemill_text.polars as rp

    posts = pl.scan_parquet("posts/*.parquet")
    posts.with_columns(rp.clean("content", titles="title").struct.field("text")).filter(rp.is_question("text"))

or, with the namespace that this module adds to expressions and Series:

    posts.with_columns(pl.col("content").riddlemill.clean().struct.field("text"))

Each function takes names of columns, or expressions, and the settings of the function of the same name. Where that one
returns a table, this one returns a struct. Finding near duplicates needs all rows at once, so there is no expression for
it: use `similar_pairs(frame["text"])`.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence, Union

import polars as pl

import riddlemill_text as rt

from ._accessor import Accessor

__all__ = ["anonymise", "clean", "filter", "is_question", "judge", "normalize"]

Column = Union[str, pl.Expr]

_DECIDED: dict[str, pl.DataType] = {"outcome": pl.String(), "reason": pl.String(), "evidence": pl.String()}
_CLEANED = {"text": pl.String(), **_DECIDED, "score": pl.Float64(), "number": pl.UInt64()}
_JUDGED = {"is_question": pl.Boolean(), "reason": pl.String(), "evidence": pl.String()}


def clean(contents: Column, *, titles: Column | None = None, **settings: Any) -> pl.Expr:
    """The texts of posts: `text`, `outcome`, `reason`, `evidence`, `score`, `number`."""

    def of(columns: Sequence[pl.Series]) -> Any:
        return rt.clean(columns[0], titles=columns[1] if len(columns) > 1 else None, **settings)

    return _struct([contents] if titles is None else [contents, titles], of, _CLEANED)


def anonymise(texts: Column, *, mentions: Column | None = None, **settings: Any) -> pl.Expr:
    """The texts without personal data: `text`, `outcome`, `reason`, `evidence`."""

    def of(columns: Sequence[pl.Series]) -> Any:
        return rt.anonymise(columns[0], mentions=columns[1] if len(columns) > 1 else None, **settings)

    return _struct([texts] if mentions is None else [texts, mentions], of, {"text": pl.String(), **_DECIDED})


def filter(texts: Column, **settings: Any) -> pl.Expr:
    """Which texts are kept: `outcome`, `reason`, `evidence`."""
    return _struct([texts], lambda columns: rt.filter(columns[0], **settings), _DECIDED)


def judge(texts: Column, **settings: Any) -> pl.Expr:
    """Whether texts ask: `is_question`, `reason`, `evidence`."""
    return _struct([texts], lambda columns: rt.judge(columns[0], **settings), _JUDGED)


def is_question(texts: Column, **settings: Any) -> pl.Expr:
    """Whether texts ask."""
    return _column(texts, lambda texts: rt.is_question(texts, **settings), pl.Boolean())


def normalize(texts: Column, **settings: Any) -> pl.Expr:
    """Keys that are equal for copies of a text."""
    return _column(texts, lambda texts: rt.normalize(texts, **settings), pl.String())


def _struct(columns: list[Column], of: Callable[[Sequence[pl.Series]], Any], fields: Mapping[str, pl.DataType]) -> pl.Expr:
    def batch(series: Sequence[pl.Series]) -> pl.Series:
        frame = pl.DataFrame(of([column.rechunk() for column in series]))
        return frame.cast(pl.Schema(fields)).to_struct(series[0].name)

    exprs = [pl.col(column) if isinstance(column, str) else column for column in columns]
    return pl.map_batches(exprs, batch, return_dtype=pl.Struct(dict(fields)), is_elementwise=True)


def _column(column: Column, of: Callable[[pl.Series], Any], kind: pl.DataType) -> pl.Expr:
    expr = pl.col(column) if isinstance(column, str) else column
    batch = lambda series: pl.Series(series.name, of(series)).cast(kind)
    return expr.map_batches(batch, return_dtype=kind, is_elementwise=True)


@pl.api.register_expr_namespace("riddlemill")
class ExprNamespace:
    """The functions of this module, of an expression: `pl.col("text").riddlemill.clean()`."""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def clean(self, *, titles: Column | None = None, **settings: Any) -> pl.Expr:
        return clean(self._expr, titles=titles, **settings)

    def anonymise(self, *, mentions: Column | None = None, **settings: Any) -> pl.Expr:
        return anonymise(self._expr, mentions=mentions, **settings)

    def filter(self, **settings: Any) -> pl.Expr:
        return filter(self._expr, **settings)

    def judge(self, **settings: Any) -> pl.Expr:
        return judge(self._expr, **settings)

    def is_question(self, **settings: Any) -> pl.Expr:
        return is_question(self._expr, **settings)

    def normalize(self, **settings: Any) -> pl.Expr:
        return normalize(self._expr, **settings)


@pl.api.register_series_namespace("riddlemill")
class SeriesNamespace(Accessor):
    """The functions of `riddlemill_text`, of a Series: `frame["text"].riddlemill.similar_pairs()`."""
