"""Cleans and filters a data set of `datasets`, batch by batch, in as many processes as one likes.

usage: python datasets_map.py POSTS.jsonl|RELEASE [PROCESSES [COLUMN]]

Each row has an `id` and a COLUMN of texts (`content` of posts, `text` of a release), and a `title` where it is a thread. A
release is the folder output/RECIPE/VERSION, or what the Hub has of it.
"""

import pathlib
import sys

import datasets
import pyarrow as pa
import riddlemill_text as rt


def prepare(batch: pa.Table, column: str) -> pa.Table:
    """What the posts say, without personal data, and no post that is none. Arrow in, Arrow out."""
    titles = batch["title"] if "title" in batch.column_names else None
    marked = rt.anonymise(rt.clean(batch[column], titles=titles)["text"])
    stays = rt.filter(marked["text"])
    asks = rt.is_question(marked["text"])
    batch = batch.select(["id"]).append_column("text", marked["text"]).append_column("asks", asks)
    return batch.append_column("reason", stays["reason"]).filter(pa.compute.equal(stays["outcome"], "kept"))


def load(path: str, column: str) -> datasets.Dataset:
    if not pathlib.Path(path).is_dir():
        features = datasets.Features({name: datasets.Value("string") for name in ("id", "title", column)})
        return datasets.load_dataset("json", data_files=path, features=features, split="train")
    # Each file by itself: the configs of a set have columns of their own.
    files = sorted(pathlib.Path(path, "data").rglob("*.parquet"))
    loaded = [datasets.load_dataset("parquet", data_files=str(file), split="train") for file in files]
    rows = [rows for rows in loaded if column in rows.column_names]
    if not rows:
        sys.exit(f"no rows with the column {column} are in {path}/data")
    return datasets.concatenate_datasets([one.select_columns(["id", column]) for one in rows])


def main(path: str, processes: int = 2, column: str | None = None) -> datasets.Dataset:
    column = column or ("text" if pathlib.Path(path).is_dir() else "content")
    posts = load(path, column).with_format("arrow")
    gone = [name for name in posts.column_names if name != "id"]
    kept = posts.map(
        prepare, batched=True, batch_size=10_000, num_proc=processes, remove_columns=gone, fn_kwargs={"column": column}
    )
    print(f"{posts.num_rows} posts, {kept.num_rows} kept, {sum(kept.with_format(None)['asks'])} ask")
    return kept


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
