"""Rules for short posts, and an exact similarity join, on Arrow data.

Every function takes a column of texts from any library that supports Arrow's PyCapsules (pyarrow, Polars, pandas, DuckDB,
datasets, …) without copying it, or a list of strings, and returns Arrow data, which `pyarrow.table(…)`,
`polars.DataFrame(…)`, `pandas.DataFrame.from_arrow(…)` and DuckDB can read directly. A null is a missing text.

The decisions are those of the command: `riddlemill apply clean` and `clean` have the same results.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterable, Literal, Protocol, Sequence, Union, overload

from . import _core
from ._core import PartedDedup, PartedKeys

if TYPE_CHECKING:
    from arro3.core import ChunkedArray, Table

__version__ = _core.VERSION
__all__ = [
    "PartedDedup",
    "PartedKeys",
    "Texts",
    "anonymise",
    "clean",
    "compare",
    "dedup",
    "filter",
    "is_question",
    "judge",
    "normalize",
    "similar_pairs",
    "similarity",
]


class ArrowArray(Protocol):
    """A single array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """A stream of arrays."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


# A column of texts. A table with one column counts as that column.
Texts = Union[ArrowArray, ArrowStream, Sequence[Union[str, None]], Iterable[Union[str, None]]]
Language = Literal["zh", "en"]
Metric = Literal["default", "indel", "levenshtein", "jaccard", "exact"]
Action = Literal["mark", "drop", "keep"]


def clean(
    contents: Texts,
    *,
    titles: Texts | None = None,
    kind: Literal["plain", "thread", "numbered"] | None = None,
    language: Language = "zh",
    join: Literal["newline", "title", "content"] = "newline",
) -> Table:
    """The texts of posts, without placeholders, cut titles, numbering, scores, separate links and signatures.

    With `titles`, posts that have a title are threads: title and content are joined, or the one that contains the other
    is used (`join` sets how two different ones are joined). `kind="numbered"` reads posts of annual threads, with their
    rank and score.

    Columns: `text` (null if nothing is left), `outcome` (kept, changed, dropped), `reason` (the first rule), `evidence`
    (all rules that applied, or the removed text), `score`, `number`.
    """
    return _core.clean(contents, titles, kind, language, join)


def is_question(texts: Texts, *, language: Language = "zh") -> ChunkedArray:
    """Whether each text asks its reader something; null for a missing text."""
    return _core.judge(texts, language, False)


def judge(texts: Texts, *, language: Language = "zh") -> Table:
    """Whether each text asks, and which rule decided that.

    Columns: `is_question`, `reason` (the rule), `evidence` (the words that decided).
    """
    return _core.judge(texts, language, True)


def anonymise(
    texts: Texts,
    *,
    mentions: Any = None,
    links: Action = "mark",
    names: Action = "mark",
    contacts: Action = "mark",
    identity: Action = "mark",
    addresses: Action = "mark",
    policy: Sequence[str | os.PathLike[str]] = ("builtin",),
    language: Language = "zh",
) -> Table:
    """The texts with markers such as `[电话]` in place of personal data.

    `mentions` contains a list of user names for each text: the author's and others'. `drop` drops the whole text.
    `policy` lists files of terms (one per line, `#` comments, `!shielded`); a text with such a term is held for a person.

    Columns: `text` (null if it is dropped or held), `outcome` (kept, changed, dropped, held), `reason`, `evidence` (kinds
    and counts, or the list and its term; never the personal data).
    """
    actions = [links, names, contacts, identity, addresses]
    if isinstance(policy, (str, os.PathLike)):
        policy = [policy]
    return _core.anonymise(texts, mentions, actions, [os.fspath(name) for name in policy], language)


def filter(
    texts: Texts,
    *,
    images: Sequence[int] | None = None,
    questions: bool = False,
    min_chars: int = 4,
    max_chars: int = 300,
    forum: bool = True,
    language: Language = "zh",
) -> Table:
    """Which texts are kept. Dropped are texts that are too short or too long, consist only of links, manage the forum
    (`forum`), or refer to content that is elsewhere; with `questions`, also texts that are not questions.

    Columns: `outcome` (kept, dropped), `reason`, `evidence`.
    """
    return _core.filter(texts, images, questions, min_chars, max_chars, forum, language)


def normalize(
    texts: Texts,
    *,
    width: bool = True,
    case: bool = True,
    script: bool = True,
    whitespace: bool = True,
    punctuation: bool = True,
    variants: bool = True,
) -> ChunkedArray:
    """Keys that are equal for copies of a text: differences in width, case, traditional characters, spaces, punctuation
    and emoji variants are removed. Keys are for comparisons, not for display."""
    return _core.normalize(texts, [width, case, script, whitespace, punctuation, variants])


# A text is a sequence of texts, too, to a type checker; here it is one text.
@overload
def similarity(a: str, b: str, metric: Metric = ..., *, normalize: bool = ...) -> float: ...  # type: ignore[overload-overlap]
@overload
def similarity(a: Texts, b: Texts, metric: Metric = ..., *, normalize: bool = ...) -> ChunkedArray: ...
def similarity(
    a: str | Texts, b: str | Texts, metric: Metric = "default", *, normalize: bool = True
) -> float | ChunkedArray:
    """How similar two texts are, from 0 to 1; for two columns, row by row.

    `default` is the measure of the predicate that decides (see `compare`); `indel`, `levenshtein` and `jaccard` (of
    character pairs) compare the normalized texts; `exact` is 1 or 0.
    """
    if isinstance(a, str) and isinstance(b, str):
        return float(_core.similarity([a], [b], metric, normalize)[0].as_py())
    return _core.similarity(a, b, metric, normalize)


def compare(a: Texts, b: Texts) -> Table:
    """Whether two texts are the same joke, row by row, by the default similarity.

    Columns: `duplicate`, `verdict` (same, borderline, different), `score`, `predicate` (what decided), `veto` (what
    demoted the pair: series, negation, template, compilation).
    """
    return _core.compare([a] if isinstance(a, str) else a, [b] if isinstance(b, str) else b)


def similar_pairs(
    texts: Texts,
    threshold: float | None = None,
    metric: Metric = "default",
    *,
    normalize: bool = True,
    language: Language = "zh",
    borderline: bool = False,
    max_pairs: int = 100_000_000,
) -> Table:
    """Every pair of similar texts: the join is exact and does not sample hashes.

    `threshold` (0.8 by default) applies to every metric except `default`, which has its own thresholds; `borderline` adds
    the pairs of `default` that a person should look at. Rows are numbered from 0, with `a < b`, in order; empty and
    missing texts are not similar to any text.

    Columns: `a`, `b`, `score`, `verdict`, `predicate`, `veto`.
    """
    return _core.similar_pairs(texts, threshold, metric, normalize, language, borderline, max_pairs)


def dedup(
    texts: Texts,
    *,
    ids: Texts | None = None,
    scores: Iterable[float | None] | None = None,
    times: Texts | None = None,
    metric: Metric = "default",
    threshold: float | None = None,
    keep: Literal["longest", "best-scored", "earliest"] = "longest",
    normalize: bool = True,
    language: Language = "zh",
) -> Table:
    """Keeps one text of each joke: a text is kept, or merged into the kept text that it is most similar to.

    `keep` sets which of two texts is kept: the longer one, the one with the better score (`scores`), or the earlier one
    (`times`, as ISO 8601 or Unix seconds). Ties go to the smaller one of `ids`, or without `ids` to the earlier row.

    Columns: `into` (the row number of the text that it is merged into, null if it is kept), `score`, `outcome` (kept,
    merged), `reason`, `evidence` (the predicate, and figures that any string library can check).
    """
    if scores is not None:
        scores = [None if score is None else float(score) for score in _listed(scores)]
    return _core.dedup(texts, ids, scores, times, metric, threshold, keep, normalize, language)


def _listed(values: Any) -> list[Any]:
    """The values of a column of numbers, of any library."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)
