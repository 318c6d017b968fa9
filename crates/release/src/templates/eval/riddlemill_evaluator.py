"""Scores answers for OpenCompass as eval/scoring.py reads them. This folder has to be on PYTHONPATH."""

import importlib.util
import pathlib

from opencompass.openicl.icl_evaluator import BaseEvaluator

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Evaluator(BaseEvaluator):
    """The figures of one task, in percent, and what each answer was read as."""

    def __init__(self, task):
        super().__init__()
        self.task = task

    def score(self, predictions, references, test_set):
        spec = importlib.util.spec_from_file_location("riddlemill_scoring", ROOT / "scoring.py")
        scoring = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(scoring)
        said = [scoring.answer(self.task, item, text) for item, text in zip(test_set, predictions)]
        pairs = list(zip(test_set, said))
        details = [
            {"id": item["id"], "pred": one, "answer": gold, "correct": one == gold}
            for (item, one), gold in zip(pairs, references)
        ]
        figures = {name: 100 * figure(pairs) for name, figure in scoring.figures(self.task).items()}
        return {"accuracy" if name == "acc" else name: value for name, value in figures.items()} | {"details": details}
