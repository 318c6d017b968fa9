"""The compiled half. `riddlemill_text` is what to call."""

from typing import Any, Literal, Sequence, overload

from arro3.core import ChunkedArray, Table

__all__ = [
    "VERSION",
    "anonymise",
    "clean",
    "compare",
    "dedup",
    "filter",
    "judge",
    "normalize",
    "similar_pairs",
    "similarity",
]
VERSION: str

def clean(contents: Any, titles: Any | None, kind: str | None, language: str, join: str) -> Table: ...
@overload
def judge(texts: Any, language: str, evidence: Literal[True]) -> Table: ...
@overload
def judge(texts: Any, language: str, evidence: Literal[False]) -> ChunkedArray: ...
def anonymise(texts: Any, mentions: Any | None, actions: Sequence[str], policy: Sequence[str], language: str) -> Table: ...
def filter(
    texts: Any, images: Sequence[int] | None, questions: bool, min_chars: int, max_chars: int, forum: bool, language: str
) -> Table: ...
def normalize(texts: Any, folds: Sequence[bool]) -> ChunkedArray: ...
def similarity(a: Any, b: Any, metric: str, normalize: bool) -> ChunkedArray: ...
def compare(a: Any, b: Any) -> Table: ...
def similar_pairs(
    texts: Any,
    threshold: float | None,
    metric: str,
    normalize: bool,
    language: str,
    borderline: bool,
    max_pairs: int,
) -> Table: ...
def dedup(
    texts: Any,
    ids: Any | None,
    scores: Sequence[float | None] | None,
    times: Any | None,
    metric: str,
    threshold: float | None,
    keep: str,
    normalize: bool,
    language: str,
) -> Table: ...
