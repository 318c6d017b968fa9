"""Rules for short posts, and an exact similarity join, on Arrow data.

Every function takes a column of texts and returns what it finds as the same kind:

| texts | a column of results | a table of results |
|---|---|---|
| a pandas Series | a Series with its index | a DataFrame with its index |
| a Polars Series | a Series | a DataFrame |
| an array of numpy's | an array | a dict of arrays |
| a pyarrow array, chunked or not | the same | a Table |
| a column of `datasets` | a column | a Dataset |
| a list, or anything that can be looped over | a list | a dict of lists |
| anything else with Arrow's PyCapsules (DuckDB, arro3, …) | an arro3 ChunkedArray | an arro3 Table |

Arrow columns are read without a copy. A null is a missing text.

The decisions are those of the command: `riddlemill apply clean` and `clean` have the same results.
"""

from __future__ import annotations

import numbers
import os
from typing import Any, Iterable, Literal, Protocol, Sequence, Union, overload

from . import _core
from ._core import PartedDedup, PartedKeys
from ._kinds import beside, taken, values

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
) -> Any:
    """The texts of posts, without placeholders, cut titles, numbering, scores, separate links and signatures.

    With `titles`, posts that have a title are threads: title and content are joined, or the one that contains the other
    is used (`join` sets how two different ones are joined). `kind="numbered"` reads posts of annual threads, with their
    rank and score.

    Columns: `text` (null if nothing is left), `outcome` (kept, changed, dropped), `reason` (the first rule), `evidence`
    (all rules that applied, or the removed text), `score`, `number`.
    """
    contents, table, _ = taken(contents)
    return table(_core.clean(contents, beside(titles), kind, language, join))


def is_question(texts: Texts, *, language: Language = "zh") -> Any:
    """Whether each text asks its reader something; null for a missing text."""
    texts, column, _ = taken(texts)
    return column(_core.judge(texts, language, False))


def judge(texts: Texts, *, language: Language = "zh") -> Any:
    """Whether each text asks, and which rule decided that.

    Columns: `is_question`, `reason` (the rule), `evidence` (the words that decided).
    """
    texts, table, _ = taken(texts)
    return table(_core.judge(texts, language, True))


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
) -> Any:
    """The texts with markers such as `[电话]` in place of personal data.

    `mentions` contains a list of user names for each text: the author's and others'. `drop` drops the whole text.
    `policy` lists files of terms (one per line, `#` comments, `!shielded`); a text with such a term is held for a person.

    Columns: `text` (null if it is dropped or held), `outcome` (kept, changed, dropped, held), `reason`, `evidence` (kinds
    and counts, or the list and its term; never the personal data).
    """
    actions = [links, names, contacts, identity, addresses]
    if isinstance(policy, (str, os.PathLike)):
        policy = [policy]
    texts, table, _ = taken(texts)
    return table(_core.anonymise(texts, mentions, actions, [os.fspath(name) for name in policy], language))


def filter(
    texts: Texts,
    *,
    images: Sequence[int] | None = None,
    questions: bool = False,
    min_chars: int = 4,
    max_chars: int = 300,
    forum: bool = True,
    language: Language = "zh",
) -> Any:
    """Which texts are kept. Dropped are texts that are too short or too long, consist only of links, manage the forum
    (`forum`), or refer to content that is elsewhere; with `questions`, also texts that are not questions.

    Columns: `outcome` (kept, dropped), `reason`, `evidence`.
    """
    texts, table, _ = taken(texts)
    return table(_core.filter(texts, images, questions, min_chars, max_chars, forum, language))


def normalize(
    texts: Texts,
    *,
    width: bool = True,
    case: bool = True,
    script: bool = True,
    whitespace: bool = True,
    punctuation: bool = True,
    variants: bool = True,
) -> Any:
    """Keys that are equal for copies of a text: differences in width, case, traditional characters, spaces, punctuation
    and emoji variants are removed. Keys are for comparisons, not for display."""
    texts, column, _ = taken(texts)
    return column(_core.normalize(texts, [width, case, script, whitespace, punctuation, variants]))


# A text is a sequence of texts, too, to a type checker; here it is one text.
@overload
def similarity(a: str, b: str, metric: Metric = ..., *, normalize: bool = ...) -> float: ...
@overload
def similarity(a: Texts, b: Texts, metric: Metric = ..., *, normalize: bool = ...) -> Any: ...
def similarity(
    a: str | Texts, b: str | Texts, metric: Metric = "default", *, normalize: bool = True
) -> Any:
    """How similar two texts are, from 0 to 1; for two columns, row by row.

    `default` is the measure of the predicate that decides (see `compare`); `indel`, `levenshtein` and `jaccard` (of
    character pairs) compare the normalized texts; `exact` is 1 or 0.
    """
    if isinstance(a, str) and isinstance(b, str):
        return float(_core.similarity([a], [b], metric, normalize)[0].as_py())
    a, column, _ = taken(a)
    return column(_core.similarity(a, beside(b), metric, normalize))


def compare(a: Texts, b: Texts) -> Any:
    """Whether two texts are the same joke, row by row, by the default similarity.

    Columns: `duplicate`, `verdict` (same, borderline, different), `score`, `predicate` (what decided), `veto` (what
    demoted the pair: series, negation, template, compilation).
    """
    a, table, _ = taken([a] if isinstance(a, str) else a)
    return table(_core.compare(a, beside([b] if isinstance(b, str) else b)))


@overload
def similar_pairs(
    texts: Texts,
    threshold: float | None = ...,
    metric: Metric = ...,
    *,
    normalize: bool = ...,
    language: Language = ...,
    borderline: bool = ...,
    max_pairs: int = ...,
    on_disk: str | os.PathLike[str] | None = ...,
    memory_mib: int = ...,
) -> Any: ...
@overload
def similar_pairs(
    texts: Texts,
    others: Texts,
    threshold: float | None = ...,
    metric: Metric = ...,
    *,
    normalize: bool = ...,
    language: Language = ...,
    borderline: bool = ...,
    max_pairs: int = ...,
    on_disk: str | os.PathLike[str] | None = ...,
    memory_mib: int = ...,
) -> Any: ...
def similar_pairs(texts: Texts, *more: Any, **settings: Any) -> Any:
    """Every pair of similar texts: the join is exact and does not sample hashes. `similar_pairs(texts)` finds those among the
    texts, `similar_pairs(texts, others)` those of a text and one of another column, as of a published set.

    `threshold` (0.8 by default) applies to every metric except `default`, which has its own thresholds; `borderline` adds
    the pairs of `default` that a person should look at. Rows are numbered from 0, with `a < b` among the texts, in order;
    empty and missing texts are not similar to any text. With `on_disk`, the name of a folder, the join works there within
    `memory_mib`; the result is the same.

    Columns: `a`, `b`, `score`, `verdict`, `predicate`, `veto`. They number rows by their place, not by an index of pandas.
    """
    # A number in the second place is the threshold.
    if more and more[0] is not None and not isinstance(more[0], numbers.Real):
        return _similar_pairs(texts, *more, **settings)
    return _similar_pairs(texts, settings.pop("others", None), *more, **settings)


def _similar_pairs(
    texts: Texts,
    others: Texts | None,
    threshold: float | None = None,
    metric: Metric = "default",
    *,
    normalize: bool = True,
    language: Language = "zh",
    borderline: bool = False,
    max_pairs: int = 100_000_000,
    on_disk: str | os.PathLike[str] | None = None,
    memory_mib: int = 2048,
) -> Any:
    texts, _, rows = taken(texts)
    folder = None if on_disk is None else os.fspath(on_disk)
    return rows(
        _core.similar_pairs(
            texts, beside(others), threshold, metric, normalize, language, borderline, max_pairs, folder, memory_mib
        )
    )


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
) -> Any:
    """Keeps one text of each joke: a text is kept, or merged into the kept text that it is most similar to.

    `keep` sets which of two texts is kept: the longer one, the one with the better score (`scores`), or the earlier one
    (`times`, as ISO 8601 or Unix seconds). Ties go to the smaller one of `ids`, or without `ids` to the earlier row.

    Columns: `into` (the row number of the text that it is merged into, null if it is kept), `score`, `outcome` (kept,
    merged), `reason`, `evidence` (the predicate, and figures that any string library can check).
    """
    if scores is not None:
        # Where a score is missing, pandas has one of several values that are not numbers.
        scores = [float(score) if isinstance(score, numbers.Real) and score == score else None for score in values(scores)]
    texts, table, _ = taken(texts)
    return table(
        _core.dedup(texts, beside(ids), scores, beside(times), metric, threshold, keep, normalize, language)
    )
