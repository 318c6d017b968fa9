"""Cleans and filters a data set of `datasets`, batch by batch, in as many processes as one likes.

usage: python datasets_map.py POSTS.jsonl [PROCESSES]

Each row has a `content`, and a `title` where it is a thread.
"""

import sys

import datasets
import pyarrow as pa
import riddlemill_text as rt


def prepare(batch: pa.Table) -> pa.Table:
    """What the posts say, without personal data, and no post that is none. Arrow in, Arrow out."""
    cleaned = pa.table(rt.clean(batch["content"], titles=batch["title"]))
    marked = pa.table(rt.anonymise(cleaned["text"]))
    stays = pa.table(rt.filter(marked["text"]))
    asks = pa.chunked_array(rt.is_question(marked["text"]))
    batch = batch.select(["id"]).append_column("text", marked["text"]).append_column("asks", asks)
    return batch.append_column("reason", stays["reason"]).filter(pa.compute.equal(stays["outcome"], "kept"))


def main(path: str, processes: int = 2) -> datasets.Dataset:
    features = datasets.Features({name: datasets.Value("string") for name in ("id", "title", "content")})
    posts = datasets.load_dataset("json", data_files=path, features=features, split="train").with_format("arrow")
    kept = posts.map(prepare, batched=True, batch_size=10_000, num_proc=processes, remove_columns=["title", "content"])
    print(f"{posts.num_rows} posts, {kept.num_rows} kept, {sum(kept.with_format(None)['asks'])} ask")
    return kept


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
