"""What the tests share: posts, the command, and a workspace that has run."""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any, Iterable

import pytest
import riddlemill

WORDS = "为什么 如果 其实 据说 每次 医生 邻居 小偷 鱼 猫 云 月亮 冰箱 电梯 镜子 西瓜 被 让 从 的 了 会 不 吃 飞 恐高 吗 呢 ？ ， 半夜".split()
DEBRIS = ["", "", "", "。", "RT", "如题", "  ", "\n来自iPhone客户端", "http://t.cn/abc ", "打13800138000", "，微信号abc12345", "[图片]"]


def posts(count: int, seed: int = 7) -> list[str]:
    """Posts with all that forums leave in them; one in four resembles an earlier one. The same every time."""
    draw = random.Random(seed)
    made: list[str] = []
    for n in range(count):
        kind = draw.random()
        if made and kind < 0.1:
            text = list(draw.choice(made))
            text.insert(draw.randrange(len(text) + 1), "呀")
            made.append("".join(text))
        elif made and kind < 0.2:
            made.append(draw.choice(made) + draw.choice(["", "。", "？？", "然后呢"]))
        elif kind < 0.25:
            made.append(draw.choice(["", " ", ".", "RT", "云飞", "x" * 400, "吧规：禁止广告，违者封禁", "雲會恐高嗎？"]))
        else:
            words = draw.choices(WORDS, k=draw.randrange(3, 18))
            made.append(draw.choice(["", f"{n}. "]) + "".join(words) + draw.choice(DEBRIS))
    return made


def apply(stage: str, rows: Iterable[dict[str, Any]], *more: str, language: str = "zh") -> list[dict[str, Any]]:
    """What the command says of rows in a language, which it would detect: the functions take texts for Chinese."""
    lines = "".join(json.dumps({"language": language, **row}, ensure_ascii=False) + "\n" for row in rows)
    args = [riddlemill.command(), "apply", stage, *more]
    done = subprocess.run(args, input=lines, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode in (0, 3), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The flags that name a workspace which says nothing."""
    made = riddlemill.Workspace.init(tmp_path_factory.mktemp("empty") / "mill", empty=True)
    return ["--workspace", str(made.path)]


@pytest.fixture(scope="session")
def mill(tmp_path_factory: pytest.TempPathFactory) -> riddlemill.Workspace:
    """The sample, after a run. Nobody changes it."""
    made = riddlemill.Workspace.init(tmp_path_factory.mktemp("mill") / "sample")
    made.run(offline=True)
    return made
