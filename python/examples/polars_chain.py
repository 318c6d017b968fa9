"""From posts to a funnel in one Polars query.

usage: python polars_chain.py POSTS.jsonl
"""

import sys

import polars as pl
import riddlemill_text.polars as rp

SCHEMA = {"id": pl.String, "title": pl.String, "content": pl.String}


def query(path: str) -> pl.LazyFrame:
    return (
        pl.scan_ndjson(path, schema=SCHEMA)
        .with_columns(clean=rp.clean("content", titles="title"))
        .with_columns(text=pl.col("clean").struct.field("text"))
        .with_columns(marked=rp.anonymise("text"), stays=rp.filter("text", min_chars=4), asks=rp.is_question("text"))
        .with_columns(
            out=pl.coalesce(
                pl.when(pl.col("clean").struct.field("outcome") == "dropped").then(pl.col("clean").struct.field("reason")),
                pl.col("stays").struct.field("reason"),
                pl.when(~pl.col("asks")).then(pl.lit("not_a_question")),
                pl.lit("kept"),
            )
        )
        .group_by("out")
        .agg(posts=pl.len(), example=pl.col("content").first())
        .sort("posts", descending=True)
    )


if __name__ == "__main__":
    print(query(sys.argv[1]).collect())
