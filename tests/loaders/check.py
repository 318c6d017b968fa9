#!/usr/bin/env python3
"""Loads releases and candidates with the programs that people load data sets with, offline.

usage: check.py DIR...

One line a check. Ends with 1 where one fails; a program that is not installed fails too.
"""

import contextlib
import hashlib
import io
import json
import logging
import os
import pathlib
import re
import sys
import tempfile
import unicodedata

SCRATCH = tempfile.TemporaryDirectory(prefix="loaders-")
os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    HF_HOME=SCRATCH.name,
    INSPECT_LOG_DIR=SCRATCH.name,
    INSPECT_DISPLAY="none",
    TOKENIZERS_PARALLELISM="false",
)
# Byte code beside a task would be a file that SHA256SUMS does not name.
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
logging.disable(logging.WARNING)

SAMPLES = 20


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def unique(pairs):
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key stands twice")
    return row


def rows(path):
    """The objects of a JSON Lines file, nothing but JSON taken for it."""
    return [
        json.loads(line, parse_constant=refuse, object_pairs_hook=unique)
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]
    ]


def configs(folder):
    return sorted(path.name for path in (folder / "data").iterdir())


def data(folder, config):
    return folder / "data" / config / "test.jsonl"


def front(folder):
    import yaml

    return yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def sums(folder):
    """Every file is named, with its hash."""
    named = {}
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        named[name] = digest
    here = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert here - {"SHA256SUMS"} == set(named), here ^ set(named)
    for name, digest in named.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
    return f"{len(named)} files"


def strict(folder):
    """UTF-8, LF, NFC, no NaN, the same keys in the same order; the same rows in Parquet."""
    import pandas
    import pyarrow.parquet

    count = 0
    for config in configs(folder):
        path = data(folder, config)
        raw = path.read_bytes()
        assert raw.endswith(b"\n") and b"\r" not in raw and not raw.startswith(b"\xef\xbb\xbf"), path
        text = raw.decode("utf-8")
        assert unicodedata.is_normalized("NFC", text), path
        items = rows(path)
        assert len({tuple(item) for item in items}) == 1, f"{path}: keys differ"
        first = next(iter(items[0]))
        assert len({item[first] for item in items}) == len(items), f"{path}: {first} is not unique"
        assert pyarrow.parquet.read_table(path.with_suffix(".parquet")).to_pylist() == items, path
        assert len(pandas.read_json(path, lines=True)) == len(items), path
        count += len(items)
    return f"{count} rows"


def schema(folder):
    """Every row fits the closed schema of its config."""
    import jsonschema

    for config in configs(folder):
        description = json.loads((folder / "schema" / f"{config}.schema.json").read_text())
        assert description["additionalProperties"] is False
        kind = jsonschema.validators.validator_for(description)
        kind.check_schema(description)
        for item in rows(data(folder, config)):
            kind(description).validate(item)


def hub(folder):
    """`datasets` finds the configs of the card, their types and all their rows."""
    import datasets

    datasets.disable_progress_bars()
    told = []
    assert set(datasets.get_dataset_config_names(str(folder))) == set(configs(folder))
    for config in configs(folder):
        cache = os.path.join(SCRATCH.name, hashlib.sha256(str(folder).encode()).hexdigest())
        loaded = datasets.load_dataset(str(folder), config, cache_dir=cache)
        assert list(loaded) == ["test"], loaded
        assert len(loaded["test"]) == len(rows(data(folder, config)))
        assert "null" not in repr(loaded["test"].features), loaded["test"].features
        assert list(loaded["test"][0]) == list(rows(data(folder, config))[0])
        told.append(f"{config}={len(loaded['test'])}")
    return " ".join(told)


def croissant(folder):
    """`mlcroissant` reads every record set; what its validator forgets is there."""
    import mlcroissant

    path = folder / "croissant.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    assert plain["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    for key in ("name", "description", "license", "url", "creator", "datePublished", "version", "citeAs"):
        assert plain.get(key), f"no {key}"
    assert any(key.startswith("rai:") for key in plain), "no rai: field"
    loaded = mlcroissant.Dataset(jsonld=path)
    assert {found.id for found in loaded.metadata.record_sets} == set(configs(folder))
    for config in configs(folder):
        assert sum(1 for _ in loaded.records(config)) == len(rows(data(folder, config))), config


def datapackage(folder):
    """frictionless finds no error."""
    import frictionless

    report = frictionless.Package(str(folder / "datapackage.json")).validate()
    errors = [error.message for task in report.tasks for error in task.errors]
    errors += [error.message for error in report.errors]
    assert not errors, errors[:5]


def compat(folder):
    """Published forms, read as scripts that expect the published files read them."""
    import pandas

    read = []
    for path in sorted((folder / "compat").iterdir()) if (folder / "compat").exists() else []:
        read.append(path.name)
        if path.name.startswith("ruozhibench"):
            table = pandas.read_json(path, lines=True)
            for text in table["category"]:
                assert all(re.fullmatch(r"[1-6]\([A-Z][A-Za-z ]+\)", part) for part in text.split(", ")), text
            assert table["index"].is_unique and table["question_en"].notna().all()
            for gold in ("Good Answer", "Bad Answer") if "Good Answer" in table else ():
                assert table[gold].notna().all()
        elif path.name == "FLUB.jsonl":
            for item in rows(path):
                options = item["options"]
                assert options[item["answer"]] == item["explanation"], item["id"]
                assert item["id"] == hashlib.sha1(item["text"].encode()).hexdigest(), item["id"]
        elif path.name.endswith("_puzzle.json"):
            for item in json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse):
                assert item["choice_list"][item["label"]] == item["answer"], item["id"]
        else:
            raise AssertionError(f"{path.name}: nothing is known that expects it")
    return " ".join(read) or "none"


def tasks(folder):
    """lm_eval runs every task; a gold outside of the choices is an error here."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    ran = []
    for path in sorted(folder.glob("eval/lm_eval/*.yaml")):
        name = path.stem
        manager = TaskManager(include_path=str(path.parent), include_defaults=False)
        done = simple_evaluate(
            model="dummy", tasks=[name], task_manager=manager, limit=SAMPLES, bootstrap_iters=0, log_samples=True
        )
        samples = done["samples"][name]
        assert samples, name
        for sample in samples:
            document = sample["doc"]
            if "choices" in document:
                assert 0 <= document["gold"] < len(document["choices"]), document["id"]
            else:
                assert sample["target"], document["id"]
        ran.append(f"{name}={len(samples)}")
    return " ".join(ran) or "none"


def inspect(folder):
    """inspect_ai runs every task, and who always says A is right as often as A is."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def always(*_):
        output = ModelOutput.from_content(model="mockllm", content="ANSWER: A")
        # Without usage the mock counts tokens with a vocabulary it would have to download.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    ran = []
    for path in sorted(folder.glob("eval/inspect/*.py")):
        model = get_model("mockllm/model", custom_outputs=always, memoize=False)
        with contextlib.chdir(path.parent):
            logs = evaluate(path.name, model=model, limit=SAMPLES, display="none", log_dir=SCRATCH.name)
        assert logs, path
        for log in logs:
            assert log.status == "success", f"{log.eval.task}: {log.error}"
            ids = [sample.id for sample in log.samples]
            assert len(set(ids)) == len(ids)
            if log.samples[0].choices:
                share = sum(sample.target == "A" for sample in log.samples) / len(ids)
                found = log.results.scores[0].metrics["accuracy"].value
                assert abs(found - share) < 1e-9, f"{log.eval.task}: {found}, not {share}"
            ran.append(f"{log.eval.task}={len(ids)}")
    return " ".join(ran) or "none"


def words(folder):
    """The card has front matter and its sections; all files state one version."""
    import yaml

    meta = front(folder)
    for key in ("license", "language", "pretty_name", "task_categories", "size_categories", "configs"):
        assert meta.get(key), f"README.md: no {key}"
    card = (folder / "README.md").read_text(encoding="utf-8")
    for title in ("Uses", "Dataset Structure", "Dataset Creation", "Bias, Risks, and Limitations", "Citation"):
        assert re.search(rf"^#+ {re.escape(title)}", card, re.M), f"README.md: no section {title}"
    citation = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["type"] == "dataset" and citation["authors"]
    stated = {
        json.loads((folder / name).read_text(encoding="utf-8"))["version"]
        for name in ("croissant.json", "datapackage.json")
    }
    stated.add(citation["version"])
    stated.add(re.search(r"^## (\S+)", (folder / "CHANGELOG.md").read_text(), re.M)[1])
    assert len(stated) == 1, stated
    questions = re.findall(r"^(\d+)\. ", (folder / "DATASHEET.md").read_text(encoding="utf-8"), re.M)
    assert [int(number) for number in questions] == list(range(1, 58)), "DATASHEET.md: not 57 questions"
    if not stated.copy().pop().endswith("candidate"):
        canary = re.search(r"Canary GUID ([0-9a-f-]{36})", card)[1]
        assert canary in (folder / "CANARY.txt").read_text()
    return stated.pop()


CHECKS = [sums, strict, schema, hub, croissant, datapackage, compat, tasks, inspect, words]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = 0
    for folder in map(pathlib.Path, sys.argv[1:]):
        folder = folder.resolve()
        print(f"== {folder.parent.name}/{folder.name}")
        # `sums` comes last once more: what loads a folder must leave it as it is.
        for check in [*CHECKS, sums]:
            said = io.StringIO()
            try:
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    told = check(folder)
                print(f"ok    {check.__name__:12} {told or ''}".rstrip())
            except Exception as error:
                failed += 1
                print(f"FAIL  {check.__name__:12} {type(error).__name__}: {error}")
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
