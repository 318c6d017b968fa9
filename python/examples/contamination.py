"""Which rows of a release a published set has, too: the exact join of two columns.

usage: python contamination.py RELEASE COLUMN OTHER.jsonl|OTHER.parquet OTHER_COLUMN

The command does the same: riddlemill contamination RELEASE --against OTHER
"""

import pathlib
import sys

import polars as pl
import riddlemill_text as rt


def main(release: str, column: str, other: str, other_column: str) -> pl.DataFrame:
    files = sorted(pathlib.Path(release, "data").rglob("*.parquet"))
    frames = [frame for frame in map(pl.read_parquet, files) if column in frame.columns]
    if not frames:
        sys.exit(f"no Parquet file below {release}/data has the column {column}")
    rows = pl.concat((frame.select("id", text=column) for frame in frames)).with_row_index("n")
    published = pl.read_parquet(other) if other.endswith(".parquet") else pl.read_ndjson(other)
    theirs = published.select(other=other_column).with_row_index("m")
    pairs = rt.similar_pairs(rows["text"], theirs["other"])
    found = pairs.join(rows, left_on="a", right_on="n").join(theirs, left_on="b", right_on="m").sort("a", "b")
    print(f"{found['a'].n_unique()} of {rows.height} rows are in {other}, {found.height} pairs")
    return found.select("id", "text", "other", "score", "predicate")


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
