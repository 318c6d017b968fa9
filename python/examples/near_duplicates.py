"""Near duplicates of a data set as it lies on the Hub, or of a release: a folder with Parquet files below data/.

usage: python near_duplicates.py FOLDER COLUMN [OUT [METRIC THRESHOLD]]

Writes pairs.parquet (every pair, with the rows' places) and kept.parquet (one row a text) into OUT, by default the current
folder: a release is checked file by file, so nothing is written there. Files without the column are named and left out.
"""

import pathlib
import sys

import polars as pl
import riddlemill_text as rt


def main(folder: str, column: str, out: str = ".", metric: str = "default", threshold: str | None = None) -> None:
    data = pathlib.Path(folder, "data")
    files = {str(file.relative_to(data)): pl.read_parquet(file) for file in sorted(data.rglob("*.parquet"))}
    for name in [name for name, rows in files.items() if column not in rows.columns]:
        print(f"left out: {name} has the columns {', '.join(files.pop(name).columns)}")
    if not files:
        sys.exit(f"no Parquet file below {data} has the column {column}")
    rows = pl.concat(
        (rows.with_columns(file=pl.lit(name)).with_row_index("row") for name, rows in files.items()), how="diagonal"
    )
    at_least = None if threshold is None else float(threshold)
    place = rows.select("file", "row", text=column).with_row_index("n")
    pairs = rt.similar_pairs(rows[column], at_least, metric)
    pairs = pairs.join(place, left_on="a", right_on="n").join(place, left_on="b", right_on="n", suffix="_b")
    pairs.sort("a", "b").write_parquet(f"{out}/pairs.parquet")
    kept = rows.filter(rt.dedup(rows[column], metric=metric, threshold=at_least)["outcome"] == "kept")
    kept.select(pl.exclude("file", "row")).write_parquet(f"{out}/kept.parquet")
    print(f"{rows.height} rows of {len(files)} files, {pairs.height} pairs, {kept.height} kept")


if __name__ == "__main__":
    main(*sys.argv[1:])
