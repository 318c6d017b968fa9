"""Near duplicates of a data set as it lies on the Hub: a folder with data/*.parquet.

usage: python near_duplicates.py FOLDER COLUMN [METRIC THRESHOLD]

Writes pairs.parquet (every pair, with the rows' places) and kept.parquet (one row a text) into the folder.
"""

import pathlib
import sys

import polars as pl
import riddlemill_text as rt


def main(folder: str, column: str, metric: str = "default", threshold: str | None = None) -> None:
    files = sorted(pathlib.Path(folder, "data").glob("*.parquet"))
    rows = pl.concat(
        pl.read_parquet(file).with_columns(file=pl.lit(file.name)).with_row_index("row") for file in files
    )
    at_least = None if threshold is None else float(threshold)
    place = rows.select("file", "row", text=column).with_row_index("n")
    pairs = pl.DataFrame(rt.similar_pairs(rows[column], at_least, metric))
    pairs = pairs.join(place, left_on="a", right_on="n").join(place, left_on="b", right_on="n", suffix="_b")
    pairs.sort("a", "b").write_parquet(f"{folder}/pairs.parquet")
    into = pl.DataFrame(rt.dedup(rows[column], metric=metric, threshold=at_least))
    kept = rows.filter(into["outcome"] == "kept")
    kept.select(pl.exclude("file", "row")).write_parquet(f"{folder}/kept.parquet")
    print(f"{rows.height} rows of {len(files)} files, {pairs.height} pairs, {kept.height} kept")


if __name__ == "__main__":
    main(*sys.argv[1:])
