"""What a function says of a text is what the command's stage says."""

from __future__ import annotations

import pyarrow as pa
import pytest
import riddlemill_text as rt

from conftest import apply, posts

TEXTS = posts(1500)
KEYS = ("outcome", "reason", "evidence")


def rows(found):
    return pa.table(found).to_pylist()


def differences(found, wanted, keys):
    return [(a, b) for a, b in zip(found, wanted, strict=True) if any(a.get(key) != b.get(key) for key in keys)]


def goes_on(row):
    """A row of the command in our form: a row that is not kept has no text."""
    gone = row["outcome"] in ("dropped", "held")
    return {**row, "text": None if gone else row["text"]}


def test_clean():
    wanted = [goes_on(row) for row in apply("clean", ({"text": text} for text in TEXTS))]
    assert not differences(rows(rt.clean(TEXTS)), wanted, ("text", *KEYS, "score", "number"))
    assert {row["outcome"] for row in wanted} == {"kept", "changed", "dropped"}


def test_clean_of_threads_and_of_numbered_posts():
    titles = [text[: 3 + n % 20] if n % 3 else None for n, text in enumerate(TEXTS)]
    given = [{"title": t, "content": c} if t is not None else {"content": c} for t, c in zip(titles, TEXTS)]
    wanted = [goes_on({"text": None, **row}) for row in apply("clean", given)]
    assert not differences(rows(rt.clean(TEXTS, titles=titles)), wanted, ("text", *KEYS))
    numbered = [f"{n}*、{text}\n【8.{n % 10}】" for n, text in enumerate(TEXTS[:200], 1)]
    wanted = [goes_on(row) for row in apply("clean", ({"text": text, "kind": "numbered"} for text in numbered))]
    found = rows(rt.clean(numbered, kind="numbered"))
    assert not differences(found, wanted, ("text", *KEYS, "score", "number"))
    assert any(row["number"] for row in found)


def test_is_question_and_judge():
    wanted = apply("interrogative", ({"text": text} for text in TEXTS))
    asks = [row["is_question"] for row in wanted]
    assert pa.chunked_array(rt.is_question(TEXTS)).to_pylist() == asks
    assert not differences(rows(rt.judge(TEXTS)), wanted, ("is_question", "reason", "evidence"))
    assert 100 < sum(asks) < 1400


def test_anonymise():
    names = [["云中鹤"] if n % 5 == 0 else [] for n in range(len(TEXTS))]
    texts = [f"我找云中鹤，{text}" if n % 3 == 0 else text for n, text in enumerate(TEXTS)]
    given = ({"text": text, "names": own} for text, own in zip(texts, names))
    wanted = [goes_on(row) for row in apply("anonymise", given)]
    for mentions in (names, pa.array(names), pa.array(names, pa.large_list(pa.string()))):
        assert not differences(rows(rt.anonymise(texts, mentions=mentions)), wanted, ("text", *KEYS))
    assert sum("[人名]" in (row["text"] or "") for row in wanted) > 20


@pytest.mark.parametrize("questions", [False, True])
def test_filter(questions, empty):
    setting = [*empty, "--set", f"filter.questions={str(questions).lower()}"]
    wanted = apply("filter", ({"text": text} for text in TEXTS), *setting)
    assert not differences(rows(rt.filter(TEXTS, questions=questions)), wanted, KEYS)
    assert len({row["reason"] for row in wanted}) > 3


def test_compare_and_similarity():
    others = TEXTS[1:] + TEXTS[:1]
    wanted = apply("similarity", ({"a": a, "b": b} for a, b in zip(TEXTS, others)))
    found = rows(rt.compare(TEXTS, others))
    assert not differences(found, wanted, ("duplicate", "verdict", "score"))
    assert [row["predicate"] for row in found] == [row["reason"] for row in wanted]
    scores = [row["score"] for row in wanted]
    assert pa.chunked_array(rt.similarity(TEXTS, others)).to_pylist() == scores
    assert rt.similarity(TEXTS[0], others[0]) == scores[0]


@pytest.mark.parametrize("metric", ["default", "indel", "levenshtein", "jaccard", "exact"])
def test_similar_pairs_and_dedup(metric, tmp_path, empty):
    threshold = None if metric == "default" else 0.7
    more = [*empty, "--set", f"dedup.metric={metric}", *(["--threshold", "0.7"] if threshold else [])]
    given = [{"id": n, "text": text} for n, text in enumerate(TEXTS)]
    wanted = apply("dedup", given, "--pairs", str(tmp_path / "pairs"), *more)
    found = rows(rt.dedup(TEXTS, metric=metric, threshold=threshold))
    assert not differences(found, wanted, ("into", "score", *KEYS))
    assert sum(row["outcome"] == "merged" for row in found) > 100
    import json

    lines = (tmp_path / "pairs").read_text(encoding="utf-8").splitlines()
    pairs = rows(rt.similar_pairs(TEXTS, threshold, metric))
    assert [(p["a"], p["b"], p["score"]) for p in pairs] == [tuple(json.loads(line).values()) for line in lines]
    # And a pair's score is that of its two texts.
    a, b = [TEXTS[p["a"]] for p in pairs], [TEXTS[p["b"]] for p in pairs]
    assert pa.chunked_array(rt.similarity(a, b, metric)).to_pylist() == [p["score"] for p in pairs]


def test_dedup_keeps_what_the_policy_says():
    texts = ["云会恐高吗，鱼会口渴吗", "云会恐高吗，鱼会口渴吗？", "云会恐高吗，鱼会口渴吗。"]
    kept = lambda **more: [row["into"] for row in rows(rt.dedup(texts, **more))].index(None)
    assert kept(ids=["c", "b", "a"], keep="earliest") == 2
    assert kept(scores=[0.1, 0.9, None], keep="best-scored") == 1
    assert kept(times=["2024-01-03", "1500000000", "2024-01-01T10:00+08:00"], keep="earliest") == 1


def test_normalize():
    assert pa.chunked_array(rt.normalize(["ＡＢＣ：雲會 恐高嗎？", None])).to_pylist() == ["abc云会恐高吗", None]
    assert pa.chunked_array(rt.normalize(["雲，會"], punctuation=False, width=False)).to_pylist() == ["云，会"]


def test_english(empty):
    given = [{"text": "Why don't fish drown?"}, {"text": "[removed]"}, {"text": "Call owner@example.org"}]
    texts = [row["text"] for row in given]
    for stage, call in [("clean", rt.clean), ("anonymise", rt.anonymise), ("filter", rt.filter)]:
        wanted = apply(stage, given, *empty, language="en")
        assert not differences(rows(call(texts, language="en")), wanted, KEYS), stage
