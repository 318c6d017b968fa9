#!/usr/bin/env python3
"""Loads releases and candidates with the programs that people load data sets with, offline.

usage: check.py [--tables] DIR...

Of a stage's folder, or one with stages under it, the Parquet files are read. --tables reads tables alone: what the
oldest supported programs are for. One line a check. Ends with 1 where one fails; a program that is not installed
fails too.
"""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import logging
import math
import os
import pathlib
import re
import sys
import tempfile
import unicodedata
import warnings

SCRATCH = tempfile.TemporaryDirectory(prefix="loaders-")
os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    HF_HOME=SCRATCH.name,
    INSPECT_LOG_DIR=SCRATCH.name,
    INSPECT_DISPLAY="none",
    TOKENIZERS_PARALLELISM="false",
)
# Byte code in a task's folder would be a file that SHA256SUMS does not name.
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
logging.disable(logging.WARNING)

SAMPLES = 20


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def unique(pairs):
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key occurs twice")
    return row


def candidate(folder):
    return json.loads((folder / "MANIFEST.json").read_text(encoding="utf-8"))["version"] == "candidate"


def rows(path):
    """The objects of a JSON Lines file, nothing but JSON taken for it."""
    return [
        json.loads(line, parse_constant=refuse, object_pairs_hook=unique)
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]
    ]


def configs(folder):
    return sorted(path.name for path in (folder / "data").iterdir())


def splits(folder, config):
    """The files of a config's rows by split, in order: of one that is not divided, `test`."""
    manifest = json.loads((folder / "MANIFEST.json").read_text(encoding="utf-8"))
    stated = manifest.get("splits", {}).get(config, [["test", manifest["configs"][config]]])
    files = {name: folder / "data" / config / f"{name}.jsonl" for name, _ in stated}
    assert {path.name for path in (folder / "data" / config).glob("*.jsonl")} == {path.name for path in files.values()}
    assert [len(rows(path)) for path in files.values()] == [count for _, count in stated], stated
    return files


def data(folder):
    """Every file of rows, with its config."""
    return [(config, path) for config in configs(folder) for path in splits(folder, config).values()]


def front(folder):
    import yaml

    return yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])


def stated_files(folder):
    """The file of each config of the card: those of data/, and tables of compat/ that are configs of their own."""
    files = {
        config["config_name"]: {file["split"]: folder / file["path"] for file in config["data_files"]}
        for config in front(folder)["configs"]
    }
    of_data = {name: of for name, of in files.items() if next(iter(of.values())).parent.parent == folder / "data"}
    assert of_data == {config: splits(folder, config) for config in configs(folder)}, files
    others = [of for name, of in files.items() if name not in of_data]
    assert all(list(of) == ["test"] and of["test"].parent == folder / "compat" for of in others), files
    return files


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


def plain(value):
    """A cell of any library as JSON has it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or value is False or value is True or isinstance(value, str):
        return value
    # Missing values: NaN, and what pandas has for them.
    if type(value).__name__ in ("NAType", "NaTType") or isinstance(value, float) and math.isnan(value):
        return None
    return value


# No dates and no numbers are looked for in texts, and numbers have all their digits.
AS_WRITTEN = {"dtype": False, "convert_dates": False, "precise_float": True}


def records(frame):
    """The rows of a pandas frame."""
    columns = {str(name): [plain(value) for value in frame[name]] for name in frame.columns}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def readers():
    """Programs that read a Parquet file, each into its own frames. fastparquet knows no raw LZ4, of stages; that for
    pandas 3 loses lists of texts without a dictionary, pyarrow's too, so that its lists are not compared."""
    import datasets
    import pandas
    import pyarrow.parquet

    datasets.disable_progress_bars()

    def hub(path):
        name = hashlib.sha256(str(path).encode()).hexdigest()
        return datasets.Dataset.from_parquet(str(path), cache_dir=os.path.join(SCRATCH.name, name))

    found = {
        "pyarrow": lambda path: pyarrow.parquet.read_table(path).to_pylist(),
        "pyarrow to pandas": lambda path: records(pyarrow.parquet.read_table(path).to_pandas()),
        "pandas": lambda path: records(pandas.read_parquet(path, engine="pyarrow")),
        "pandas of pyarrow types": lambda path: records(pandas.read_parquet(path, dtype_backend="pyarrow")),
        "datasets": lambda path: list(hub(path)),
        "datasets to pandas": lambda path: records(hub(path).to_pandas()),
        "fastparquet": lambda path: records(pandas.read_parquet(path, engine="fastparquet")),
    }
    if not TABLES:
        import duckdb
        import polars

        found["duckdb"] = lambda path: records(duckdb.read_parquet(str(path)).df())
        found["polars"] = lambda path: polars.read_parquet(path).to_dicts()
        found["polars to pandas"] = lambda path: records(polars.read_parquet(path).to_pandas())
    return found


def tables(folder):
    """Every program's frames of the Parquet file hold what the JSON Lines hold; so do those of the JSON Lines."""
    import pandas

    results = readers()
    for _, lines in data(folder):
        items = rows(lines)
        path = lines.with_suffix(".parquet")
        for name, read in results.items():
            found = read(path)
            assert len(found) == len(items), f"{name}: {len(found)} rows of {len(items)}"
            for place, (row, item) in enumerate(zip(found, items)):
                assert list(row) == list(item), f"{name}: columns {list(row)}"
                lost = name == "fastparquet" and not TABLES
                wrong = [k for k in item if row[k] != item[k] and not (lost and isinstance(item[k], list))]
                assert not wrong, f"{name}: row {place}: {wrong[0]}: {row[wrong[0]]!r}, not {item[wrong[0]]!r}"
        text = records(pandas.read_json(lines, lines=True, **AS_WRITTEN))
        assert text == items, "pandas.read_json"
    return ", ".join(results)


def staged(folder):
    """The Parquet files of stages, in the programs that know their compression."""
    import pyarrow.parquet

    results = {name: read for name, read in readers().items() if name != "fastparquet"}
    count = 0
    for path in sorted(folder.rglob("*.parquet")):
        assert "view" not in str(pyarrow.parquet.read_schema(path)), path
        rows = pyarrow.parquet.read_table(path).to_pylist()
        for name, read in results.items():
            assert read(path) == rows, f"{name}: {path}"
        count += 1
    assert count, f"{folder}: no Parquet file"
    return f"{count} files: {', '.join(results)}"


def strict(folder):
    """UTF-8, LF, NFC, no NaN, the same keys in the same order; in Parquet types that every reader knows."""
    import pyarrow.parquet

    count = 0
    for _, path in data(folder):
        raw = path.read_bytes()
        assert raw.endswith(b"\n") and b"\r" not in raw and not raw.startswith(b"\xef\xbb\xbf"), path
        text = raw.decode("utf-8")
        assert unicodedata.is_normalized("NFC", text), path
        items = rows(path)
        assert len({tuple(item) for item in items}) == 1, f"{path}: keys differ"
        first = next(iter(items[0]))
        assert len({item[first] for item in items}) == len(items), f"{path}: {first} is not unique"
        stated = pyarrow.parquet.read_schema(path.with_suffix(".parquet"))
        assert not re.search(r"view|large_list", str(stated)), stated
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
        for path in splits(folder, config).values():
            for item in rows(path):
                kind(description).validate(item)


class Logged(logging.Handler):
    """What a library logs as a warning while it is open."""

    def __init__(self, name):
        super().__init__(logging.WARNING)
        self.logger, self.messages = logging.getLogger(name), []

    def emit(self, record):
        self.messages.append(record.getMessage())

    def __enter__(self):
        self.logger.addHandler(self)
        return self

    def __exit__(self, *_):
        self.logger.removeHandler(self)


def hub(folder):
    """`datasets` finds the configs of the card, their types and all their rows, and has no word to say of it."""
    import datasets

    datasets.disable_progress_bars()
    results = []
    files = stated_files(folder)
    assert set(datasets.get_dataset_config_names(str(folder))) == set(files)
    for config, of_config in files.items():
        cache = os.path.join(SCRATCH.name, hashlib.sha256(str(folder).encode()).hexdigest())
        logging.disable(logging.NOTSET)
        with warnings.catch_warnings(record=True) as warned, Logged("datasets") as logged:
            warnings.simplefilter("always")
            loaded = datasets.load_dataset(str(folder), config, cache_dir=cache)
        logging.disable(logging.WARNING)
        printed = [str(warning.message) for warning in warned if "datasets" in str(warning.filename)]
        # Of the network that is not there it may speak.
        printed += [text for text in logged.messages if "unreachable" not in text]
        assert not printed, printed
        assert list(loaded) == list(of_config), loaded
        for split, path in of_config.items():
            found = loaded[split]
            stated = found.info.splits[split]
            held = found.data.nbytes
            assert abs(stated.num_bytes - held) <= 0.1 * held + 1024, f"num_bytes {stated.num_bytes}, {held} held"
            assert len(found) == len(rows(path))
            assert "null" not in repr(found.features), found.features
            assert list(found[0]) == list(rows(path)[0])
            results.append(f"{config}={len(found)}" if list(of_config) == ["test"] else f"{config}/{split}={len(found)}")
    return " ".join(results)


def croissant(folder):
    """`mlcroissant` reads every record set; what its validator forgets is there."""
    import mlcroissant

    path = folder / "croissant.json"
    described = json.loads(path.read_text(encoding="utf-8"))
    assert described["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    wanted = ["name", "description", "url", "version", "citeAs"]
    # Authors are those whom the curator named, as in CITATION.cff; without one there is neither.
    named = (folder / "CITATION.cff").exists()
    assert ("creator" in described) == named, "creator without CITATION.cff" if not named else "no creator"
    wanted += ["creator"] if named else []
    # A candidate may rest on nothing that bears a date, or on sources that share no licence; a release has both.
    wanted += [] if candidate(folder) else ["license", "datePublished"]
    wanted += [f"rai:{key}" for key in ("dataAnnotationProtocol", "machineAnnotationTools", "dataBiases")]
    for key in wanted:
        assert described.get(key), f"no {key}"
    logging.disable(logging.NOTSET)
    with Logged("absl") as logged, Logged(None) as rooted:
        loaded = mlcroissant.Dataset(jsonld=path)
    logging.disable(logging.WARNING)
    printed = [text for text in logged.messages + rooted.messages if "context" in text]
    assert not printed, printed
    divided = json.loads((folder / "MANIFEST.json").read_text(encoding="utf-8")).get("splits", {})
    sets = {f"{config}-{path.stem}" if config in divided else config: path for config, path in data(folder)}
    assert {found.id for found in loaded.metadata.record_sets} == {*sets, *(f"{config}-splits" for config in divided)}
    for name, path in sets.items():
        assert sum(1 for _ in loaded.records(name)) == len(rows(path)), name
    for config, stated in divided.items():
        assert sum(1 for _ in loaded.records(f"{config}-splits")) == len(stated), config


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
        elif path.name == "chumor_corpus.jsonl":
            jokes = rows(path)
            assert len({item["id"] for item in jokes}) == len(jokes)
            assert all(item["joke"] and item["explanation"] for item in jokes)
        elif path.name == "chumor_preferences.jsonl":
            # Joined to the corpus by the joke's id, one entry a model in each list.
            jokes = {item["id"] for item in rows(path.with_name("chumor_corpus.jsonl"))}
            for item in rows(path):
                assert item["id"] in jokes, item["id"]
                counts = {len(value) for value in item.values() if isinstance(value, list)}
                assert counts == {len(item["opponent_models"])}, item["id"]
        elif path.name.endswith("_puzzle.json"):
            for item in json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse):
                assert item["choice_list"][item["label"]] == item["answer"], item["id"]
        else:
            raise AssertionError(f"{path.name}: nothing is known that expects it")
    return " ".join(read) or "none"


def scoring(folder):
    """The module by which the files of eval/ read answers."""
    spec = importlib.util.spec_from_file_location("scoring_of_" + folder.name, folder / "eval" / "scoring.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reply(form, item):
    """A reply with the right answer, as the prompt asks for it."""
    if form["kind"] == "tag":
        return f"<choice>{item['answer']}</choice>"
    # People's mean need not be whole.
    return f"[[{round(float(item['answer']))}]]" if form["kind"] == "rating" else item["answer"]


NONSENSE = "lol"

# Replies and what they are read as: the same as in crates/llm/src/parse/tests.rs.
LETTERS = {
    **{"B": "B", "b": "B", "Ｂ": "B", "(B)": "B", "B. 因为": "B", "答案：C": "C", "**答案**: D": "D", "Answer: B": "B"},
    **{"分析: A 不对，B 也不对。\n答案: D": "D", "选 C": "C", "B，因为 A 没有说明": "B", "A or B": None, "A、B": None},
    **{"E": None, "Apples": None, "A question like this has no answer": None, "可能是 A，也可能是 B": None, "": None},
}
CHOICES = {
    "Because…\n\n<choice>AnswerB</choice>\n\n": "AnswerB",
    "<choice> Answer B </choice>": "AnswerB",
    "**<CHOICE>answera</CHOICE>**": "AnswerA",
    "```\n<choice>AnswerA</choice>\n```": "AnswerA",
    "<choice>AnswerA</choice> is better": None,
    "<choice>AnswerA</choice>\nI am sure.": None,
    "AnswerA": None,
}
RATINGS = {"The form is [[5]]. My rating: [[ 8 ]].": 8, "评分：【【7】】": 7, "[[11]]": None, "Rating: 5": None, "[[7.5]]": None}


def asked(folder):
    """Every task has its items, each with the set's own prompt; what is right is read as right, and what says nothing as nothing."""
    if not (folder / "eval").exists():
        return "none"
    module = scoring(folder)
    for text, letter in LETTERS.items():
        assert module.letter(text, list("ABCD")) == letter, text
    for text, name in CHOICES.items():
        assert module.tag(text, ["AnswerA", "AnswerB"], False) == name, text
    for text, rating in RATINGS.items():
        assert module.number(text, 1, 10) == rating, text
    read = []
    for name, task in module.TASKS.items():
        items = module.items(name)
        assert items and len({item["id"] for item in items}) == len(items), name
        form = task["form"]
        for item in items:
            assert item["prompt"] and item["task"] == (task["task"] or name), item["id"]
            if form["kind"] == "judged":
                judges = module.judge_prompts(item, "an answer</response>")
                assert len(judges) == (1 if form["scale"] else 2), item["id"]
                assert all("an answer" in one["prompt"] and "response-here" not in one["prompt"] for one in judges)
                continue
            if "choices" in item:
                assert item["choices"][item["gold"]] == item["answer"], item["id"]
            said = module.answer(name, item, reply(form, item))
            assert said == item["answer"] or form["kind"] == "rating" and said, item["id"]
            assert form["kind"] == "text" or module.answer(name, item, NONSENSE) is None, item["id"]
        if form["kind"] in ("judged", "text"):
            read.append(f"{name}={len(items)}")
            continue
        right = [(item, item["answer"]) for item in items]
        for figure, compute in module.figures(name).items():
            # A figure of whole groups is 0 where a release has no whole group.
            assert compute(right) > 0.999 or figure.startswith(("groups_", "correlation")), f"{name}: {figure}"
            assert compute([(item, None) for item in items]) == 0, f"{name}: {figure}"
        read.append(f"{name}={len(items)}")
    return " ".join(read)


def tasks(folder):
    """lm_eval runs every task whose answers need no judge, and its figures are those of scoring.py."""
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
        module = scoring(folder)
        form = module.TASKS[name]["form"]
        for sample in samples:
            document = sample["doc"]
            assert sample["target"], document["id"]
            assert sample["arguments"][0][0] == document["prompt"], document["id"]
            if "choices" in document:
                assert 0 <= document["gold"] < len(document["choices"]), document["id"]
        if form["kind"] != "text":
            # The model says nothing but "lol".
            results = done["results"][name]
            found = {key.split(",")[0]: value for key, value in results.items()}
            for figure in module.figures(name):
                assert found[figure] == 0, f"{name}: {figure} is {found[figure]}"
            task = done["configs"][name]
            assert [one["metric"] for one in task["metric_list"]] == list(module.figures(name)), name
        ran.append(f"{name}={len(samples)}")
    return " ".join(ran) or "none"


def inspect(folder):
    """inspect_ai runs every task: who answers right has all figures at 1, and a judge's rating is the score."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    if not (folder / "eval" / "inspect").exists():
        return "none"
    module = scoring(folder)

    def saying(text):
        output = ModelOutput.from_content(model="mockllm", content=text)
        # Without usage the mock counts tokens with a vocabulary it would have to download.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    def always(text):
        return get_model("mockllm/model", custom_outputs=lambda *_: saying(text), memoize=False)

    ran = []
    for name, task in module.TASKS.items():
        items, form = module.items(name), task["form"]
        place = re.sub(r"\W", "_", task["config"])
        place = "set_" + place if place[0].isdigit() else place
        path = folder / "eval" / "inspect" / f"{place}.py"
        by_prompt = {item["prompt"]: item for item in items}

        def right(messages, *_):
            item = by_prompt[messages[-1].text]
            return saying("an answer" if form["kind"] == "judged" else reply(form, item))

        model = get_model("mockllm/model", custom_outputs=right, memoize=False)
        judged = '{"rating": 3, "explanation": "so"}' if form.get("json") else "Rating: [[3]]"
        grader = always(judged if form.get("scale") else "<choice>1</choice>")
        with contextlib.chdir(path.parent):
            logs = evaluate(
                f"{path.name}@{name}",
                model=model,
                model_roles={"grader": grader},
                limit=SAMPLES,
                display="none",
                log_dir=SCRATCH.name,
            )
        (log,) = logs
        assert log.status == "success", f"{name}: {log.error}"
        ids = [sample.id for sample in log.samples]
        assert len(set(ids)) == len(ids) == min(len(items), SAMPLES)
        figures = {
            key: metric.value
            for score in log.results.scores
            for key, metric in ((f"{score.name}/{key}", metric) for key, metric in score.metrics.items())
        }
        if form["kind"] == "judged" and form["scale"]:
            assert [value for key, value in figures.items() if key.endswith("/mean")] == [3.0], figures
        elif form["kind"] == "judged":
            # Who always prefers the first text prefers none.
            assert figures["tie/mean"] == 1.0 and figures["model/mean"] == 0.0, figures
        elif form["kind"] != "text":
            for figure in module.figures(name):
                key = f"{name}/{'accuracy' if figure == 'acc' else figure}"
                # Of a part of the items, groups need not be whole.
                assert figures[key] > 0.999 or figure.startswith(("groups_", "correlation")), f"{key}: {figures}"
        ran.append(f"{log.eval.task}={len(ids)}")
    return " ".join(ran) or "none"


def opencompass(folder):
    """The data sets for OpenCompass are read by the reader of its configurations and have their items; their evaluator gives the
    figures of scoring.py. OpenCompass itself needs torch, and its base class stands in here as an empty one."""
    import types

    from mmengine.config import Config

    package = types.ModuleType("opencompass.openicl.icl_evaluator")
    package.BaseEvaluator = type("BaseEvaluator", (), {})
    for name in ("opencompass", "opencompass.openicl"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["opencompass.openicl.icl_evaluator"] = package
    read = []
    for path in sorted(folder.glob("eval/opencompass/datasets/*.py")):
        module = scoring(folder)
        (sets,) = [value for key, value in Config.fromfile(path).items() if key.endswith("_datasets")]
        for one in sets:
            items = rows(pathlib.Path(one["path"]))
            name = one["eval_cfg"]["evaluator"]["task"]
            assert items == module.items(name), name
            shown = one["infer_cfg"]["prompt_template"]["template"]["round"][0]["prompt"]
            columns = one["reader_cfg"]["input_columns"] + [one["reader_cfg"]["output_column"]]
            assert all(column in item for item in items for column in columns), name
            assert "{prompt}" in shown, name
            file = folder / "eval" / "opencompass" / "riddlemill_evaluator.py"
            spec = importlib.util.spec_from_file_location("riddlemill_evaluator", file)
            evaluators = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(evaluators)
            form = module.TASKS[name]["form"]
            replies = [reply(form, item) for item in items]
            result = evaluators.Evaluator(name).score(replies, [item["answer"] for item in items], items)
            assert result["in_form"] == 100 and all(one["correct"] for one in result["details"]), name
            read.append(f"{name}={len(items)}")
    return " ".join(read) or "none"


def words(folder):
    """The card has front matter and its sections; all files state one version."""
    import yaml

    meta = front(folder)
    for key in (
        *("license", "language", "pretty_name", "task_categories", "size_categories", "configs", "tags"),
        *("annotations_creators", "source_datasets", "dataset_info"),
    ):
        assert meta.get(key), f"README.md: no {key}"
    card = (folder / "README.md").read_text(encoding="utf-8")
    for title in ("Uses", "Dataset Structure", "Dataset Creation", "Bias, Risks, and Limitations", "Citation"):
        assert re.search(rf"^#+ {re.escape(title)}", card, re.M), f"README.md: no section {title}"
    assert "load_dataset(" in card and "```bibtex" in card and "```json" in card, "README.md: a block is missing"
    for block in re.findall(r"```json\n(.*?)```", card, re.S):
        json.loads(block)
    for block in re.findall(r"```python\n(.*?)```", card, re.S):
        compile(block, "README.md", "exec")
    bibtex(card)
    stated = {
        json.loads((folder / name).read_text(encoding="utf-8"))["version"]
        for name in ("croissant.json", "datapackage.json")
    }
    # Without an author, which the format requires, there is no such file.
    if (folder / "CITATION.cff").exists():
        citation = yaml.safe_load((folder / "CITATION.cff").read_text(encoding="utf-8"))
        import jsonschema

        packaged = importlib.metadata.files("cffconvert")
        rules = next(file for file in packaged if str(file).endswith("schemas/1.2.0/schema.json"))
        # Dates are strings in the format's own schema, and dates for YAML.
        plain = json.loads(json.dumps(citation, default=str))
        jsonschema.validate(plain, json.loads(rules.read_text()))
        assert citation["type"] == "dataset" and citation["authors"]
        assert candidate(folder) or "date-released" in citation, "CITATION.cff: no date"
        stated.add(citation["version"])
    stated.add(re.search(r"^## (\S+)", (folder / "CHANGELOG.md").read_text(), re.M)[1])
    assert len(stated) == 1, stated
    questions = re.findall(r"^(\d+)\. ", (folder / "DATASHEET.md").read_text(encoding="utf-8"), re.M)
    assert [int(number) for number in questions] == list(range(1, 58)), "DATASHEET.md: not 57 questions"
    if not stated.copy().pop().endswith("candidate"):
        canary = re.search(r"Canary GUID ([0-9a-f-]{36})", card)[1]
        assert canary in (folder / "CANARY.txt").read_text()
    return stated.pop()


def bibtex(card):
    """The entries of a card are read by bibtexparser, and say something in every field."""
    import bibtexparser

    block = re.search(r"```bibtex\n(.*?)```", card, re.S)[1]
    library = bibtexparser.parse_string(block)
    assert library.entries and not library.failed_blocks, "README.md: BibTeX that is not read"
    for entry in library.entries:
        for field in entry.fields:
            assert str(field.value).strip("{} \t,"), f"README.md: BibTeX with an empty {field.key}"


def metadata(folder):
    """What `publish --to archive` writes beside an archive is valid by the repositories' own rules."""
    from datacite import schema45

    found = sorted(folder.glob("*.datacite.json"))
    assert found, "no *.datacite.json"
    for file in found:
        schema45.validator.validate(json.loads(file.read_text(encoding="utf-8")))
        deposit = json.loads(file.with_name(file.name.replace(".datacite.", ".zenodo.")).read_text(encoding="utf-8"))
        for key in ("upload_type", "title", "description", "creators", "publication_date", "access_right"):
            assert deposit.get(key), f"{file.name}: no {key} for Zenodo"
        assert all(creator["name"] for creator in deposit["creators"])
    return f"{len(found)} archives"


TABLES = sys.argv[1:2] == ["--tables"]
CHECKS = [sums, tables, hub]
if not TABLES:
    CHECKS += [strict, schema, croissant, datapackage, compat, asked, tasks, inspect, opencompass, words]


def main():
    folders = sys.argv[2 if TABLES else 1 :]
    if not folders:
        sys.exit(__doc__)
    failed = 0
    for folder in map(pathlib.Path, folders):
        folder = folder.resolve()
        print(f"== {folder.parent.name}/{folder.name}")
        # `sums` comes last once more: what loads a folder must leave it as it is.
        checks = [*CHECKS, sums] if (folder / "data").is_dir() else [staged]
        if any(folder.glob("*.datacite.json")):
            checks = [metadata]
        for check in checks:
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                    results = check(folder)
                print(f"ok    {check.__name__:12} {results or ''}".rstrip())
            except Exception as error:
                failed += 1
                print(f"FAIL  {check.__name__:12} {type(error).__name__}: {error}")
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
