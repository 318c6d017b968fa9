"""Threads, forks and Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pyarrow as pa
import pytest
import riddlemill_text as rt

from conftest import posts


def test_other_threads_go_on_meanwhile():
    texts = posts(12_000, seed=3)
    turns, done = 0, threading.Event()

    def work():
        try:
            rt.similar_pairs(texts, 0.5, "jaccard", max_pairs=1 << 40)
        finally:
            done.set()

    worker = threading.Thread(target=work)
    started = time.monotonic()
    worker.start()
    while not done.is_set():
        turns += 1
        time.sleep(0.001)
    worker.join()
    took = time.monotonic() - started
    assert took < 0.05 or turns > took * 100, (turns, took)


INTERRUPTED = """
    import random, sys
    import riddlemill_text as rt
    draw = random.Random(1)
    texts = ["".join(draw.choices("云会恐高吗鱼口渴", k=60)) for _ in range(400_000)]
    print("joining", flush=True)
    try:
        rt.{call}
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        # What was interrupted leaves nothing behind: the next call works.
        assert rt.is_question(["云会恐高吗？"])[0]
        sys.exit(7)
"""


@pytest.mark.parametrize("call", ["similar_pairs(texts, 0.6, 'levenshtein')", "dedup(texts)"])
def test_ctrl_c_ends_a_join(call):
    script = textwrap.dedent(INTERRUPTED.format(call=call))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "joining\n"
    time.sleep(1)
    assert process.poll() is None, "the join was over before it could be interrupted"
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert process.wait(60) == 7
    assert time.monotonic() - started < 10
    assert process.stdout.read() == "interrupted\n"


def judged(text):
    return rt.is_question([text] * 40_000) == [True] * 40_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    assert judged("云会恐高吗？")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(judged, ["云会恐高吗？", "鱼会口渴吗？"]).get(60) == [True, True]


def test_threads_never_change_a_result():
    script = "import pyarrow as pa, riddlemill_text as rt, conftest, hashlib\n"
    script += "texts = conftest.posts(9_000)\n"
    script += "print(hashlib.sha256(repr([pa.table(t).to_pydict() for t in "
    script += "(rt.clean(texts), rt.dedup(texts), rt.similar_pairs(texts, 0.8, 'indel'))]).encode()).hexdigest())"
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    messages = {
        subprocess.run(
            [sys.executable, "-c", script], env={**env, "RIDDLEMILL_THREADS": n}, capture_output=True, text=True, check=True
        ).stdout
        for n in ("1", "3")
    }
    assert len(messages) == 1
