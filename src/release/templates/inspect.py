"""{{ shape.about }}

inspect eval {{ task.name }}.py
"""

import pathlib

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
{% if task.options is not none %}
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice
{% else %}
from inspect_ai.scorer import f1
from inspect_ai.solver import generate
{% endif %}

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTRUCTION = {{ task.instruction | quoted }}


def record_to_sample(row):
    question = row[{{ task.question | quoted }}]
{% if task.options is not none %}
    gold = row[{{ task.gold | quoted }}]
    return Sample(
        id=row["id"],
        input=f"{INSTRUCTION}\n\n{question}",
        choices=row[{{ task.options | quoted }}],
        target=gold if isinstance(gold, str) else chr(ord("A") + gold),
    )
{% else %}
    return Sample(
        id=row["id"],
        input=f"{INSTRUCTION}\n\n{question}",
        target=row[{{ task.gold | quoted }}],
    )
{% endif %}


@task
def {{ task.name }}():
    path = ROOT / "data" / {{ shape.name | quoted }} / "test.jsonl"
    dataset = json_dataset(str(path), record_to_sample)
{% if task.options is not none %}
    return Task(dataset=dataset, solver=multiple_choice(), scorer=choice())
{% else %}
    # Overlap of words with the reference: a first figure, no judge of reasoning.
    return Task(dataset=dataset, solver=generate(), scorer=f1())
{% endif %}
