"""Candidates and releases."""

from __future__ import annotations

import json
import pathlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ._errors import NotFound
from ._frames import polars

if TYPE_CHECKING:
    import polars as pl
    import datasets


class Release:
    """A release, or the candidate of the last run."""

    def __init__(self, folder: pathlib.Path, recipe: str) -> None:
        self.folder = folder
        self.recipe = recipe

    @property
    def version(self) -> str:
        """`candidate`, or the assigned version."""
        return self.folder.name

    def __repr__(self) -> str:
        return f"Release({self.recipe!r}, {self.version!r})"

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The chain back to raw/: files, hashes, settings, stages."""
        found: dict[str, Any] = json.loads((self.folder / "MANIFEST.json").read_text(encoding="utf-8"))
        return found

    @property
    def configs(self) -> list[str]:
        """The configurations of the data set, as a loader names them."""
        return sorted(path.name for path in (self.folder / "data").iterdir() if path.is_dir())

    def files(self, config: str | None = None) -> dict[str, list[pathlib.Path]]:
        """The Parquet files of a configuration by split; its JSON Lines files if there are none."""
        folder = self.folder / "data" / self._config(config)
        kind = "*.parquet" if any(folder.glob("*.parquet")) else "*.jsonl"
        splits: dict[str, list[pathlib.Path]] = {}
        for path in sorted(folder.glob(kind)):
            splits.setdefault(path.stem.split("-")[0], []).append(path)
        return splits

    def rows(self, config: str | None = None, split: str | None = None) -> pl.DataFrame:
        """The rows of a configuration; of all splits by default."""
        splits = self.files(config)
        if split is not None and split not in splits:
            raise NotFound(f"{self!r} has no split {split!r}\n  hint: there are {', '.join(splits)}")
        files = [path for name, paths in splits.items() if split in (None, name) for path in paths]
        pl = polars()
        if files and files[0].suffix == ".parquet":
            return pl.concat([pl.read_parquet(path) for path in files], how="vertical_relaxed")
        return pl.concat([pl.read_ndjson(path, infer_schema_length=None) for path in files], how="diagonal_relaxed")

    def dataset(self, config: str | None = None) -> datasets.DatasetDict:
        """The configuration as Hugging Face's `datasets` loads it, with its splits."""
        import datasets

        found = datasets.load_dataset(str(self.folder), self._config(config))
        if not isinstance(found, datasets.DatasetDict):
            raise TypeError(f"{self!r} was loaded as {type(found)}")
        return found

    def _config(self, config: str | None) -> str:
        if config is None and len(self.configs) == 1:
            return self.configs[0]
        if config not in self.configs:
            what = "several configurations" if config is None else f"no configuration {config!r}"
            raise NotFound(f"{self!r} has {what}\n  hint: there are {', '.join(self.configs)}")
        assert config is not None
        return config


def find(root: pathlib.Path, recipe: str, version: str) -> Release:
    folder = root / "output" / recipe / version
    if (folder / "MANIFEST.json").is_file():
        return Release(folder, recipe)
    there = [release.version for release in every(root, recipe)]
    hint = f"there are {', '.join(there)}" if there else f"`run({recipe!r})` makes the candidate"
    raise NotFound(f"{recipe} has no {version}\n  hint: {hint}")


def every(root: pathlib.Path, recipe: str | None = None) -> list[Release]:
    """Candidates and releases, by recipe and version."""
    made = sorted((root / "output").glob(f"{recipe or '*'}/*/MANIFEST.json"))
    return [Release(path.parent, path.parent.parent.name) for path in made]
