"""What a function says of a text is what the command's stage says."""

from __future__ import annotations

import pyarrow as pa
import pytest
import riddlemill_text as rt

from conftest import apply, posts

TEXTS = posts(1500)
KEYS = ("outcome", "reason", "evidence")


def rows(found):
    """The rows of a table: texts in lists give columns in lists."""
    return [dict(zip(found, row)) for row in zip(*found.values())]


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
    assert rt.is_question(TEXTS) == asks
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
    assert rt.similarity(TEXTS, others) == scores
    assert rt.similarity(TEXTS[0], others[0]) == scores[0]


@pytest.mark.parametrize("metric", ["default", "indel", "jaccard"])
def test_pairs_between_two_sets_in_memory_on_disk_and_in_parts(metric, tmp_path, empty):
    own, others = TEXTS[:500], TEXTS[500:]
    threshold = None if metric == "default" else 0.7
    found = rt.similar_pairs(own, others, threshold, metric)
    # The pairs of both sets together, of which those between them are taken.
    within = rows(rt.similar_pairs(TEXTS, threshold, metric))
    between = [(p["a"], p["b"] - 500, p["score"]) for p in within if p["a"] < 500 <= p["b"]]
    assert list(zip(found["a"], found["b"], found["score"])) == between and len(between) > 50
    assert rt.similar_pairs(own, others, threshold, metric, on_disk=tmp_path, memory_mib=1) == found
    dedup = rt.PartedDedup(metric, threshold, 0.0, "longest", True, "zh")
    counts = dedup.add_counts([dedup.count(own), dedup.count(others)])
    lanes = {}
    for start, texts in ((0, own), (500, others)):
        parts = dedup.keyer(counts).blocks(list(range(start, start + len(texts))), texts, 4, "1/1", [])
        for lane, block in parts:
            lanes.setdefault(lane, []).append(block)
    pairs = set()
    for blocks in lanes.values():
        may = pa.table(dedup.pairs(blocks, between=500)).to_pydict()
        a, b = [TEXTS[row] for row in may["a"]], [TEXTS[row] for row in may["b"]]
        verdicts = pa.table(dedup.compare(a, b, dedup.common_pairs(counts)))["verdict"].to_pylist()
        pairs |= {(x, y - 500) for x, y, verdict in zip(may["a"], may["b"], verdicts) if verdict == "same"}
    # Parts leave copies to digests: equal texts share one.
    digests = pa.chunked_array(dedup.digests(pa.array(TEXTS))).to_pylist()
    pairs |= {
        (x, y) for x in range(500) for y in range(1000) if digests[x] is not None and digests[x] == digests[500 + y]
    }
    assert pairs == {(a, b) for a, b, _ in between}


def test_the_command_names_the_same_rows(tmp_path, empty):
    import json
    import subprocess

    import riddlemill

    for name, texts in (("set", TEXTS[:500]), ("other", TEXTS[500:])):
        lines = (json.dumps({"id": str(n), "text": text if text.strip() else "-"}, ensure_ascii=False) for n, text in enumerate(texts))
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    args = [riddlemill.command(), *empty, "contamination", "set", "--against", "other", "--pairs", "pairs"]
    done = subprocess.run([*args, "--set", "text.language=zh"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    pairs = [json.loads(line) for line in (tmp_path / "pairs").read_text(encoding="utf-8").splitlines()]
    own, others = ([text if text.strip() else "-" for text in part] for part in (TEXTS[:500], TEXTS[500:]))
    found = rt.similar_pairs(own, others)
    assert [(int(p["a"]), int(p["b"])) for p in pairs] == list(zip(found["a"], found["b"]))


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
    assert rt.similarity(a, b, metric) == [p["score"] for p in pairs]


def test_dedup_keeps_what_the_policy_says():
    texts = ["云会恐高吗，鱼会口渴吗", "云会恐高吗，鱼会口渴吗？", "云会恐高吗，鱼会口渴吗。"]
    kept = lambda **more: [row["into"] for row in rows(rt.dedup(texts, **more))].index(None)
    assert kept(ids=["c", "b", "a"], keep="earliest") == 2
    assert kept(scores=[0.1, 0.9, None], keep="best-scored") == 1
    assert kept(times=["2024-01-03", "1500000000", "2024-01-01T10:00+08:00"], keep="earliest") == 1


def test_normalize():
    assert rt.normalize(["ＡＢＣ：雲會 恐高嗎？", None]) == ["abc云会恐高吗", None]
    assert rt.normalize(["雲，會"], punctuation=False, width=False) == ["云，会"]


def test_english(empty):
    given = [{"text": "Why don't fish drown?"}, {"text": "[removed]"}, {"text": "Call owner@example.org"}]
    texts = [row["text"] for row in given]
    for stage, call in [("clean", rt.clean), ("anonymise", rt.anonymise), ("filter", rt.filter)]:
        wanted = apply(stage, given, *empty, language="en")
        assert not differences(rows(call(texts, language="en")), wanted, KEYS), stage
