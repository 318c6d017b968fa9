"""The functions of `riddlemill_text` as methods of a column."""

from __future__ import annotations

from typing import Any

import riddlemill_text as rt


class Accessor:
    """The functions, with the column as their texts. Results are of the column's kind."""

    def __init__(self, texts: Any) -> None:
        self._texts = texts

    def clean(self, **settings: Any) -> Any:
        return rt.clean(self._texts, **settings)

    def anonymise(self, **settings: Any) -> Any:
        return rt.anonymise(self._texts, **settings)

    def filter(self, **settings: Any) -> Any:
        return rt.filter(self._texts, **settings)

    def judge(self, **settings: Any) -> Any:
        return rt.judge(self._texts, **settings)

    def is_question(self, **settings: Any) -> Any:
        return rt.is_question(self._texts, **settings)

    def normalize(self, **settings: Any) -> Any:
        return rt.normalize(self._texts, **settings)

    def similar_pairs(self, *settings: Any, **named: Any) -> Any:
        return rt.similar_pairs(self._texts, *settings, **named)

    def dedup(self, **settings: Any) -> Any:
        return rt.dedup(self._texts, **settings)
