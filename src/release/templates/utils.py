"""{{ shape.about }}

The rows of data/{{ shape.name }}/test.jsonl as documents for lm_eval.
"""

import json
import pathlib

import datasets

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTRUCTION = {{ task.instruction | quoted }}


def document(row):
    question = row[{{ task.question | quoted }}]
{% if task.options is not none %}
    choices = row[{{ task.options | quoted }}]
    gold = row[{{ task.gold | quoted }}]
    if isinstance(gold, str):
        gold = ord(gold) - ord("A")
    if not 0 <= gold < len(choices):
        raise ValueError(f"{row['id']}: the gold is not among the choices")
    listed = "\n".join(f"{chr(65 + i)}. {choice}" for i, choice in enumerate(choices))
    prompt = f"{INSTRUCTION}\n\n{question}\n\n{listed}\n\nAnswer:"
    letters = [chr(65 + i) for i in range(len(choices))]
    return {"id": row["id"], "prompt": prompt, "choices": letters, "gold": gold}
{% else %}
    prompt = f"{INSTRUCTION}\n\n{question}\n\n"
    return {"id": row["id"], "prompt": prompt, {{ task.gold | quoted }}: row[{{ task.gold | quoted }}]}
{% endif %}


def load(**_):
    path = ROOT / "data" / {{ shape.name | quoted }} / "test.jsonl"
    with open(path, encoding="utf-8") as lines:
        rows = [document(json.loads(line)) for line in lines]
    return {"test": datasets.Dataset.from_list(rows)}
