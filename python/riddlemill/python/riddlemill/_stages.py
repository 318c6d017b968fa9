"""What a stage made: its rows, its ledger, its links and further tables."""

from __future__ import annotations

import json
import pathlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ._errors import Failed, NotFound
from ._frames import polars

if TYPE_CHECKING:
    import polars as pl
    import pyarrow


class Stage:
    """A stage of a recipe, as it is in staged/. Private: it contains posts as people wrote them."""

    def __init__(self, folder: pathlib.Path, recipe: str, name: str) -> None:
        self.folder = folder
        self.recipe = recipe
        self.name = name

    def __repr__(self) -> str:
        return f"Stage({self.recipe!r}, {self.name!r})"

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What determined its content (settings, inputs, evidence), the counts of records by outcome, and the files."""
        try:
            made: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            hint = f"`run(to={self.name!r})` makes it"
            raise NotFound(f"{self.recipe}: stage {self.name} has not been made\n  hint: {hint}") from None
        except ValueError as error:
            raise Failed(f"{self.folder / 'manifest.json'} is damaged: {error}\n  hint: `run` rebuilds it") from None
        return made

    @property
    def counts(self) -> dict[str, Any]:
        """How many records came in, went out, and left in which state for which reason."""
        found: dict[str, Any] = self.manifest["counts"]
        return found

    @property
    def tables(self) -> list[str]:
        """The names of its tables: `rows`, `ledger`, `links`, and for some stages more, such as dedup's `pairs`."""
        return sorted(self.manifest["tables"])

    def files(self, table: str) -> list[pathlib.Path]:
        """The Parquet files of a table, in order."""
        if table not in self.manifest["tables"]:
            raise NotFound(f"{self!r} has no table {table!r}\n  hint: there are {', '.join(self.tables)}")
        return [self.folder / part["file"] for part in self.manifest["tables"][table]["parts"]]

    def lazy(self, table: str = "rows") -> pl.LazyFrame:
        """A table as a Polars query, which reads only the columns and rows that are needed."""
        files = self.files(table)
        pl = polars()
        return pl.scan_parquet(files, glob=False) if files else pl.LazyFrame()

    def table(self, table: str = "rows") -> pl.DataFrame:
        """A table as a Polars frame, which `to_arrow()` and any Arrow library can convert."""
        return self.lazy(table).collect()

    def arrow(self, table: str = "rows") -> pyarrow.Table:
        """A table of pyarrow, read without Polars."""
        import pyarrow
        import pyarrow.parquet

        files = self.files(table)
        return pyarrow.concat_tables(pyarrow.parquet.read_table(file) for file in files) if files else pyarrow.table({})

    @property
    def rows(self) -> pl.DataFrame:
        """The kept records."""
        return self.table("rows")

    @property
    def ledger(self) -> pl.DataFrame:
        """What became of every record that entered: one row per record, with reason and evidence."""
        return self.table("ledger")

    @property
    def links(self) -> pl.DataFrame:
        """Which record was made from which."""
        return self.table("links")


def find(root: pathlib.Path, recipe: str | None, name: str) -> Stage:
    """A stage by its name; the recipe is optional if only one has the stage."""
    found = [stage for stage in every(root) if stage.name == name and recipe in (None, stage.recipe)]
    if len(found) == 1:
        return found[0]
    if found:
        recipes = ", ".join(stage.recipe for stage in found)
        raise NotFound(f"several recipes have a stage {name!r}: {recipes}\n  hint: stage({name!r}, {found[0].recipe!r})")
    there = sorted({stage.name for stage in every(root) if recipe in (None, stage.recipe)})
    where = f"of {recipe}" if recipe else "of any recipe"
    hint = f"made are {', '.join(there)}" if there else "`run` makes them"
    raise NotFound(f"no stage {name!r} {where} has been made\n  hint: {hint}")


def every(root: pathlib.Path) -> list[Stage]:
    """The stages that have been made, in the order of each recipe."""
    made = sorted((root / "staged").glob("*/*/manifest.json"))
    return [Stage(path.parent, path.parent.parent.name, _name(path)) for path in made]


def _name(manifest: pathlib.Path) -> str:
    """A stage's name in its recipe, as `review:type`; of a damaged stage that of its folder."""
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["stage"])
    except (OSError, ValueError, KeyError):
        return manifest.parent.name.partition("_")[2]
