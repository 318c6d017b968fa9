"""The compiled functions. Call them through `riddlemill_text`."""

from typing import Any, Iterable, Literal, Sequence, final, overload

from arro3.core import ChunkedArray, Table

__all__ = [
    "PartedDedup",
    "PartedKeys",
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
    others: Any | None,
    threshold: float | None,
    metric: str,
    normalize: bool,
    language: str,
    borderline: bool,
    max_pairs: int,
    on_disk: str | None,
    memory_mib: int,
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

@final
class PartedDedup:
    """Dedup of rows that are spread over many machines: the steps that each machine runs on its part. A row has the same
    number on every machine. `riddlemill.cluster` combines the parts."""

    def __new__(
        cls, metric: str, threshold: float | None, margin: float, keep: str, normalize: bool, language: str | None
    ) -> PartedDedup: ...
    def ranks(self, ids: Any, texts: Any, scores: Sequence[float | None], times: Any) -> ChunkedArray:
        """Sort keys: of two similar rows the one with the lower key is kept."""
    def tagged(self, texts: Any, languages: Any) -> ChunkedArray:
        """Texts with their languages (`zh`, `en`, `und`), as the methods below take them. Where one is missing it is that of
        the settings, or is detected."""
    def untagged(self, texts: Any) -> ChunkedArray:
        """The texts of `tagged`, as they were."""
    def digests(self, texts: Any) -> ChunkedArray:
        """16 bytes each, equal for texts that compare equally with every other; null where a text is similar to none."""
    def count(self, texts: Any) -> bytes:
        """How many of the texts hold each token."""
    def add_counts(self, counts: Sequence[bytes]) -> bytes:
        """The counts of several parts together."""
    def common_pairs(self, counts: bytes) -> bytes:
        """What `compare` needs of the counts of all rows: the pairs of neighbours that too many of them hold."""
    def keyer(self, counts: bytes) -> PartedKeys:
        """Computes keys, from the counts of all rows that are compared."""
    def pairs(self, blocks: Sequence[bytes], between: int | None = None) -> Table:
        """Columns `a` and `b`: the pairs of rows in the blocks of a lane that may be similar, each once. With `between`, only
        those of a row below this number and one from it on: the first and the second of two sets whose rows are numbered on."""
    def heavy(self, blocks: Sequence[bytes], most: int) -> list[tuple[int, int, int]]:
        """Keys that more than `most` rows of a lane have: kind, key, how many."""
    def compare(self, a: Any, b: Any, common: bytes) -> Table:
        """Columns `verdict` (same, borderline; null where neither), `score`, `predicate`, `veto`, `levenshtein`,
        `jaro_winkler`, `sorensen_dice`."""
    def resolve(self, batches: Iterable[Any], folder: str, memory_mib: int) -> Table:
        """Columns `row`, `into`, `score`, `predicate`: the row that each row which is not kept is merged into. Batches have
        the columns `from`, `from_rank`, `into`, `into_rank`, `verdict` (same, copy), `score`, `predicate`, in any order;
        they are sorted within this much memory and in the folder."""

@final
class PartedKeys:
    """Computes the keys of rows; two similar rows share at least one."""

    def blocks(
        self, rows: Sequence[int], texts: Any, lanes: int, share: str, heavy: Sequence[tuple[int, int, int]]
    ) -> list[tuple[int, bytes]]:
        """The keys of one share of all rows (`1/1`, `3/16`) in blocks, each with the number of its lane. `heavy` names
        keys that are split: kind, key, number of shards."""
