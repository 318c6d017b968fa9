"""The functions as methods of a pandas Series.

    import riddlemill_text.pandas

    posts["asks"] = posts["text"].riddlemill.is_question()
    posts[posts["asks"]]

Importing this module adds them. A result has the Series' index.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from ._accessor import Accessor

__all__ = ["SeriesAccessor"]


@pd.api.extensions.register_series_accessor("riddlemill")
class SeriesAccessor(Accessor):
    """The functions of `riddlemill_text`: `frame["text"].riddlemill.clean()`."""

    def __init__(self, texts: Any) -> None:
        if not isinstance(texts.dtype, pd.CategoricalDtype) and not pd.api.types.is_string_dtype(texts.dtype):
            if not texts.isna().all():
                # pandas tells only an AttributeError from a method that it does not know.
                raise AttributeError(f"a Series of {texts.dtype} has no texts\n  hint: .astype(str) makes texts of it")
        super().__init__(texts)
