"""The tasks of {{ set }} for inspect_ai.

inspect eval {{ set }}.py@{{ tasks[0].name }} --model MODEL
{% if tasks | selectattr("judged") | list %}

Answers in free text are judged with the set's own prompt, by the model of the role `grader`: --model-role grader=MODEL
{% endif %}
"""

import importlib.util
import pathlib

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import SampleScore, Score, Target, accuracy, f1, mean, metric, scorer, stderr
from inspect_ai.solver import generate

ROOT = pathlib.Path(__file__).resolve().parents[1]


def scoring():
    spec = importlib.util.spec_from_file_location("riddlemill_scoring", ROOT / "scoring.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCORING = scoring()


def messages(prompt):
    system = [ChatMessageSystem(content=prompt["system"])] if prompt["system"] else []
    return [*system, ChatMessageUser(content=prompt["prompt"])]


{% if divided %}
def dataset(name, split=None):
{% else %}
def dataset(name):
{% endif %}
    def sample(item):
        shown = {key: item[key] for key in ("task", "group", "parts", "judge", "choices", "options") if key in item}
        return Sample(id=item["id"], input=messages(item), target=item.get("answer", ""), metadata=shown)

{% if divided %}
    return MemoryDataset([sample(item) for item in SCORING.items(name, split)], name=name)
{% else %}
    return MemoryDataset([sample(item) for item in SCORING.items(name)], name=name)
{% endif %}


def item_of(held):
    """The item of a sample's metadata and its target."""
    metadata, target = held
    return {**metadata, "answer": target}


def figure(name, key):
    """A figure over all samples, each of whose scores holds its item and its answer."""

    @metric(name=key)
    def computed():
        def over(scores: list[SampleScore]):
            pairs = [(one.score.metadata["item"], one.score.answer) for one in scores]
            return SCORING.figures(name)[key](pairs)

        return over

    return computed()


def scored(name):
    metrics = [accuracy(), stderr()] + [figure(name, key) for key in SCORING.figures(name) if key != "acc"]

    @scorer(metrics=metrics, name=name)
    def of_task():
        async def score(state, target: Target):
            item = item_of((state.metadata, target.text))
            said = SCORING.answer(name, item, state.output.completion)
            kept = {key: item[key] for key in ("answer", "group", "parts")}
            return Score(value="C" if said == target.text else "I", answer=said, metadata={"item": kept})

        return score

    return of_task()


def unread(state, said):
    """A judge's reply that cannot be read is no score, and is counted as that."""
    return Score(
        value=float("nan"),
        answer=state.output.completion,
        explanation="the judge's reply cannot be read: " + "\n\n".join(said),
    )


def rated(name):
    form = SCORING.TASKS[name]["form"]

    async def replies(state):
        judge = get_model(role="grader")
        prompts = SCORING.judge_prompts(state.metadata, state.output.completion)
        return [(await judge.generate(messages(prompt))).completion for prompt in prompts]

    @scorer(metrics=[mean(), stderr()], name=name)
    def by_scale():
        async def score(state, target: Target):
            said = await replies(state)
            value = SCORING.rating(form, said[0])
            if value is None:
                return unread(state, said)
            return Score(value=value, answer=state.output.completion, explanation=said[0])

        return score

    @scorer(metrics={"*": [mean()]}, name=name)
    def by_preference():
        async def score(state, target: Target):
            said = await replies(state)
            named = {SCORING.preferred(text, at == 0) for at, text in enumerate(said)}
            if None in named:
                return unread(state, said)
            # Both orders are asked: a preference that follows the order is none.
            wins = named.pop() if len(named) == 1 else "tie"
            values = {who: float(who == wins) for who in ("person", "model", "tie")}
            return Score(value=values, answer=state.output.completion, explanation="\n\n".join(said))

        return score

    return by_scale() if form["scale"] else by_preference()
{% for task in tasks %}


@task
def {{ task.name }}({{ "split=None" if divided }}):
{% for note in task.notes %}
    # {{ note }}
{% endfor %}
{% if task.form.kind == "judged" %}
    return Task(dataset=dataset({{ task.name | quoted }}{{ ", split" if divided }}), solver=generate(), scorer=rated({{ task.name | quoted }}))
{% elif task.form.kind == "text" %}
    # Overlap of words with the text in the row: a first figure, no judge.
    return Task(dataset=dataset({{ task.name | quoted }}{{ ", split" if divided }}), solver=generate(), scorer=f1())
{% else %}
    return Task(dataset=dataset({{ task.name | quoted }}{{ ", split" if divided }}), solver=generate(), scorer=scored({{ task.name | quoted }}))
{% endif %}
{% endfor %}
