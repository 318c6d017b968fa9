"""The exact join against brute force with rapidfuzz, on the same posts in one run.

    pip install rapidfuzz numpy
    cargo build --release
    python benches/join.py --program target/release/riddlemill [--posts FILE.jsonl] [--count 86000]
    python benches/join.py --program … --posts FILE.jsonl --sizes 125000,250000,500000,1000000
    python benches/join.py --program … --posts FILE.jsonl --on-disk FOLDER --memory 5120 --sample 2000

Both sides find every pair of posts with an Indel similarity of 0.8, as written. The program is measured
as a whole process, from JSON Lines to the list of pairs; the pairs must be the same.

With `--sizes` the program alone runs on more and more posts, and the growth exponent is printed. With
`--sample` that many posts are compared with all, and every pair that the program found with one of them
must be among those, and the other way round. Posts with `planted_of` are edited copies: those that are at
or over the threshold must be found.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy
from rapidfuzz import process
from rapidfuzz.distance import Indel

WORDS = (
    "为什么 如果 其实 据说 每次 终于 居然 忽然 医生 老师 邻居 司机 厨师 警察 小偷 乘客 鱼 猫 狗 云 月亮 太阳 冰箱 电梯 镜子 影子 "
    "闹钟 雨伞 红绿灯 自行车 地铁 馒头 西瓜 牛奶 咖啡 火锅 辣椒 身份证 说明书 遥控器 充电器 把 被 让 给 和 比 在 从 向 对 的 了 着 过 "
    "会 能 想 要 敢 应该 不 没 也 都 又 再 才 就 还 吃 喝 睡 跑 飞 游泳 恐高 害羞 迷路 失眠 减肥 加班 结婚 退货 投诉 道歉 起床 洗澡 "
    "看见 听说 觉得 忘记 相信 怀疑 证明 吗 呢 吧 啊 呀 ？ ！ ， 。 一个 两只 三天 半夜 昨天 明天 上次 永远 从来 一边 之后 之前 里面 外面"
).split()


# Scores of so many posts with 256 are a gigabyte.
BLOCK = 1 << 20


def make_posts(count, seed=11):
    """Posts of 8 to 60 characters, of which 6 in 100 are edited copies of an earlier one."""
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        planted = rng.randrange(number) if number > 100 and rng.random() < 0.06 else None
        if planted is None:
            # Two rare characters make each post its own.
            text = "".join(rng.choice(WORDS) for _ in range(rng.randint(6, 28)))
            for _ in range(2):
                at = rng.randrange(len(text) + 1)
                text = text[:at] + chr(rng.randint(0x4E00, 0x9FA5)) + text[at:]
        else:
            text = list(rows[planted]["text"])
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(len(text))
                text[at : at + rng.randint(0, 1)] = rng.choice(WORDS)
            text = "".join(text)
        rows.append({"id": number, "text": text, "planted_of": planted})
    return rows


def run(program, rows, folder, on_disk, memory, wanted=None):
    """Pairs, how many, seconds, those of CPU and peak memory in MB of one whole run; of the pairs those that are wanted."""
    posts, pairs = os.path.join(folder, "posts.jsonl"), os.path.join(folder, "pairs.jsonl")
    with open(posts, "w", encoding="utf-8") as out:
        out.writelines(json.dumps({"id": n, "text": row["text"]}, ensure_ascii=False) + "\n" for n, row in enumerate(rows))
    command = [program, "apply", "dedup", "--metric", "indel", "--threshold", "0.8", "--normalize", "none", "--pairs", pairs]
    if on_disk:
        command += ["--on-disk", on_disk, "--memory", str(memory)]
    started = time.perf_counter()
    with open(posts, "rb") as stdin:
        child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
    secs = time.perf_counter() - started
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with {status}")
    found, count = set(), 0
    with open(pairs, encoding="utf-8") as lines:
        for count, line in enumerate(lines, 1):
            pair = json.loads(line)
            if wanted is None or wanted(pair["a"], pair["b"]):
                found.add((pair["a"], pair["b"]))
    return found, count, secs, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def alike(texts, a, b):
    """Whether two posts are at or over 0.8, by integers: a tie is in."""
    both = len(texts[a]) + len(texts[b])
    return both > 0 and 5 * (both - Indel.distance(texts[a], texts[b])) >= 4 * both


def brute_force(texts, rows):
    """Pairs of these rows with any other, and the seconds."""
    started = time.perf_counter()
    found = set()
    for start in range(0, len(rows), 256):
        chunk = rows[start : start + 256]
        for first in range(0, len(texts), BLOCK):
            some = texts[first : first + BLOCK]
            # A hair less than the threshold, so that rounding decides nothing.
            scores = process.cdist([texts[a] for a in chunk], some, scorer=Indel.normalized_similarity, score_cutoff=0.7999, workers=-1, dtype=numpy.float32)
            for i, b in zip(*numpy.nonzero(scores)):
                a, b = sorted((chunk[i], first + int(b)))
                if a != b and alike(texts, a, b):
                    found.add((a, b))
    return found, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--posts", help="JSON Lines with text and, where planted, planted_of")
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--sizes")
    parser.add_argument("--on-disk", metavar="FOLDER")
    parser.add_argument("--memory", type=int, default=2048, help="MiB of a join on disk")
    parser.add_argument("--sample", type=int, help="hold so many posts against all, not each against each")
    args = parser.parse_args()
    if args.posts:
        with open(args.posts, encoding="utf-8") as lines:
            rows = [json.loads(line) for _, line in zip(range(args.count or sys.maxsize), lines)]
    else:
        rows = make_posts(args.count or 86_000)

    failed = False
    with tempfile.TemporaryDirectory(dir=args.on_disk) as folder:
        if args.sizes:
            points = []
            for size in map(int, args.sizes.split(",")):
                _, count, secs, cpu, peak = run(args.program, rows[:size], folder, args.on_disk, args.memory)
                points.append((math.log(size), math.log(cpu)))
                print(f"{size:>10,} posts  {secs:8.2f} s  {cpu:8.2f} s of CPU  {peak:8.0f} MB  {count:>9,} pairs", flush=True)
            (x, y), (u, v) = points[0], points[-1]
            print(f"growth exponent of CPU time {(v - y) / (u - x):.2f}")
            return
        planted = {(row["planted_of"], n) for n, row in enumerate(rows) if row.get("planted_of") is not None}
        sample = sorted(random.Random(5).sample(range(len(rows)), args.sample or len(rows)))
        chosen = set(sample)
        wanted = lambda a, b: a in chosen or b in chosen or (a, b) in planted
        found, count, secs, cpu, peak = run(args.program, rows, folder, args.on_disk, args.memory, wanted)
    texts = [row["text"] for row in rows]
    print(f"riddlemill  {len(rows):,} posts  {secs:8.2f} s  {cpu:8.2f} s of CPU  {peak:6.0f} MB  {count:,} pairs", flush=True)

    over = {pair for pair in planted if alike(texts, *pair)}
    print(f"planted     {len(planted):,}, {len(over):,} at or over the threshold, {len(over - found):,} of them missed")
    failed |= not over <= found

    brute, brute_secs = brute_force(texts, sample)
    found = {(a, b) for a, b in found if a in chosen or b in chosen}
    print(f"rapidfuzz   {brute_secs:8.2f} s  {len(brute):,} pairs" + ("" if args.sample else f"  {brute_secs / secs:.0f} times as long"))
    if brute != found:
        failed = True
        print(f"the pairs differ: {len(brute - found)} missed, {len(found - brute)} too many, as {sorted(brute ^ found)[:3]}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
