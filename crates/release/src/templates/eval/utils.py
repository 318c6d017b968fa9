"""The tasks of this set for lm_eval: items of eval/items, scored by eval/scoring.py."""

import importlib.util
import pathlib

import datasets

ROOT = pathlib.Path(__file__).resolve().parents[1]


def scoring():
    spec = importlib.util.spec_from_file_location("riddlemill_scoring", ROOT / "scoring.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCORING = scoring()


def prompt(item):
    return "\n\n".join(text for text in (item["system"], item["prompt"]) if text)


{% if divided %}
def load(task, **_):
    def rows(split):
        return [{**item, "prompt": prompt(item), "of": task} for item in SCORING.items(task, split)]

    splits = SCORING.TASKS[task].get("splits", ["test"])
    return {split: datasets.Dataset.from_list(rows(split)) for split in splits}
{% else %}
def load(task, **_):
    rows = [{**item, "prompt": prompt(item), "of": task} for item in SCORING.items(task)]
    return {"test": datasets.Dataset.from_list(rows)}
{% endif %}


def score(doc, results):
    """Each figure is computed from all pairs of item and answer: those of groups and labels are no means of items."""
    item = {key: doc[key] for key in ("answer", "group", "parts")}
    pair = (item, SCORING.answer(doc["of"], doc, results[0]))
    return {name: pair for name in SCORING.figures(doc["of"])}
{% for task in tasks %}
{% for figure in task.figures %}


def {{ task.name }}_{{ figure }}(results):
    return SCORING.figures({{ task.name | quoted }})[{{ figure | quoted }}](results)
{% endfor %}
{% endfor %}
