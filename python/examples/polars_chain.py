"""From posts to a funnel in one Polars query.

usage: python polars_chain.py POSTS.jsonl|RELEASE [COLUMN]

COLUMN has the texts: `content` of posts, `text` of a release, which is the folder output/RECIPE/VERSION.
"""

import pathlib
import sys

import polars as pl
import riddlemill_text.polars  # adds the namespace `riddlemill`

SCHEMA = {"id": pl.String, "title": pl.String, "content": pl.String}


def posts(path: str, column: str) -> pl.LazyFrame:
    if not pathlib.Path(path).is_dir():
        return pl.scan_ndjson(path, schema=SCHEMA)
    files = map(pl.scan_parquet, sorted(pathlib.Path(path, "data").rglob("*.parquet")))
    rows = [file.select("id", column) for file in files if column in file.collect_schema()]
    if not rows:
        sys.exit(f"no rows with the column {column} are in {path}/data")
    return pl.concat(rows)


def query(path: str, column: str | None = None) -> pl.LazyFrame:
    column = column or ("text" if pathlib.Path(path).is_dir() else "content")
    given = posts(path, column)
    titles = pl.col("title") if "title" in given.collect_schema() else None
    return (
        given.select(given=pl.col(column), clean=pl.col(column).riddlemill.clean(titles=titles))
        .with_columns(text=pl.col("clean").struct.field("text"))
        .with_columns(
            stays=pl.col("text").riddlemill.filter(min_chars=4),
            asks=pl.col("text").riddlemill.is_question(),
        )
        .with_columns(
            out=pl.coalesce(
                pl.when(pl.col("clean").struct.field("outcome") == "dropped").then(pl.col("clean").struct.field("reason")),
                pl.col("stays").struct.field("reason"),
                pl.when(~pl.col("asks")).then(pl.lit("not_a_question")),
                pl.lit("kept"),
            )
        )
        .group_by("out")
        .agg(posts=pl.len(), example=pl.col("given").first())
        .sort("posts", descending=True)
    )


if __name__ == "__main__":
    print(query(*sys.argv[1:]).collect())
