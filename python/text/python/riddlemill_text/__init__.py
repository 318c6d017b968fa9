"""Rules over short posts, and the exact similarity join, over Arrow.

Every function takes a column of texts from any library that knows Arrow's PyCapsules (pyarrow, Polars, pandas, DuckDB,
datasets, …) without copying it, or a list of strings, and returns Arrow: `pyarrow.table(…)`, `polars.DataFrame(…)`,
`pandas.DataFrame.from_arrow(…)` and DuckDB take it as it is. A null is a text that is not there.

What is decided is what the command decides: `riddlemill apply clean` and `clean` give the same.
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
    """One array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """Chunks of arrays."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


# A column of texts. A table of one column is that column.
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
    """What posts say, without placeholders, cut titles, numbering, scores, links that stand apart and signatures.

    With `titles`, what has a title is a thread: title and content are joined, or whichever holds the other is taken
    (`join` says how two that differ are). `kind="numbered"` reads posts of annual threads, with their rank and score.

    Columns: `text` (null where nothing is left), `outcome` (kept, changed, dropped), `reason` (the first rule),
    `evidence` (all rules that fired, or what stood there), `score`, `number`.
    """
    return _core.clean(contents, titles, kind, language, join)


def is_question(texts: Texts, *, language: Language = "zh") -> ChunkedArray:
    """Whether each text asks its reader something. Null for null."""
    return _core.judge(texts, language, False)


def judge(texts: Texts, *, language: Language = "zh") -> Table:
    """Whether each text asks, and why that was decided.

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
    """The texts with marks such as `[电话]` in place of personal data.

    `mentions` has a list of user names for each text, its author's and others'. `drop` takes the whole text out.
    `policy` are word lists (a term a line, `#` comments, `!shielded`) whose terms hold a text for a person.

    Columns: `text` (null where it does not go on), `outcome` (kept, changed, dropped, held), `reason`, `evidence` (kinds
    and counts, or the list and its term; never what stood there).
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
    """Which texts stay: not too short, not too long, no links alone, no forum management (`forum`), no promises of what
    is elsewhere; with `questions`, those that ask.

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
    """The texts as keys under which copies meet: width, case, traditional characters, spaces, punctuation and variants of
    emoji are folded. To be compared, never shown."""
    return _core.normalize(texts, [width, case, script, whitespace, punctuation, variants])


# A text is a sequence of texts, too, to a type checker; here it is one text.
@overload
def similarity(a: str, b: str, metric: Metric = ..., *, normalize: bool = ...) -> float: ...  # type: ignore[overload-overlap]
@overload
def similarity(a: Texts, b: Texts, metric: Metric = ..., *, normalize: bool = ...) -> ChunkedArray: ...
def similarity(
    a: str | Texts, b: str | Texts, metric: Metric = "default", *, normalize: bool = True
) -> float | ChunkedArray:
    """How alike two texts are, 0 to 1; of two columns, row by row.

    `default` is the measure of the predicate that decides (see `compare`); `indel`, `levenshtein` and `jaccard` (of
    character pairs) are of the normalized texts, `exact` is 1 or 0.
    """
    if isinstance(a, str) and isinstance(b, str):
        return float(_core.similarity([a], [b], metric, normalize)[0].as_py())
    return _core.similarity(a, b, metric, normalize)


def compare(a: Texts, b: Texts) -> Table:
    """Whether texts are one joke, row by row, by the default similarity.

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
    """Every pair of texts that are alike, none lost: an exact join, not a sample of hashes.

    `threshold` (0.8, if left out) is for every metric but `default`, which has thresholds of its own; `borderline` adds
    the pairs of `default` that a person should look at. Rows are numbered from 0, `a < b`, in order; an empty text and a
    null are like nothing.

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
    """One text a joke: each goes into the kept text that it is most like, or is kept.

    `keep` says which of two stays: the longer one, the better scored (`scores`), the earlier (`times`, as ISO 8601 or Unix
    seconds); ties go to the smaller of `ids`, without them to the earlier row.

    Columns: `into` (the row number of the text that it goes into, null where it is kept), `score`, `outcome` (kept,
    merged), `reason`, `evidence` (the predicate, and figures that any string library can check).
    """
    if scores is not None:
        scores = [None if score is None else float(score) for score in _listed(scores)]
    return _core.dedup(texts, ids, scores, times, metric, threshold, keep, normalize, language)


def _listed(values: Any) -> list[Any]:
    """Values of a column of numbers, whatever holds them."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)
