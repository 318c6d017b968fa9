#!/usr/bin/env python3
"""Holds what Spark, Ray and Slurm make of a recipe's offline stages against what one machine makes, byte for byte.

usage: run.py RIDDLEMILL [POSTS [generated|killed|connect|ray|slurm|real|corpus ...]]

The package riddlemill is installed in PySpark's environment. Starts a standalone master and two workers on loopback. In turn:
  - generated posts (POSTS of them, 4000 if left out), in JSON Lines and Parquet, one partition damaged, whose dumps and
    everything between tasks are in an object store (moto's S3);
  - the same on a disk, with a worker killed in the middle of the join;
  - the same through Spark Connect, which has neither SparkContext nor the driver's JVM;
  - the same on Ray Data, and with arrays of a Slurm that runs here and loses every fifth task;
  - the real dumps of RIDDLEMILL_REFERENCE, where it is set;
  - where asked for, POSTS of its tools/make_corpus.py in eight files, joined by Indel from 0.8.
Every file of staged/ must equal that of `riddlemill run`; then audit, explain, show and run take it as theirs.
"""

import contextlib
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import pyarrow as pa
import pyarrow.parquet
import pyspark

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPARK = pathlib.Path(pyspark.__file__).parent
SALT = "00112233445566778899aabbccddeeff" * 2 + "\n"
WORDS = (
    "为什么 如果 其实 据说 每次 医生 邻居 司机 小偷 鱼 猫 云 月亮 冰箱 电梯 镜子 雨伞 西瓜 牛奶 火锅 把 被 让 给 从 的 了 "
    "会 不 也 吃 飞 游泳 恐高 失眠 吗 呢 ？ ， 半夜"
).split()


def posts(count):
    """Posts of 8 to 60 characters; one in eight resembles an earlier one. The same every time."""
    draw = random.Random(7)
    rare = [chr(0x4E00 + i) for i in range(0, 20000, 7)]
    texts = []
    for _ in range(count):
        kind = draw.random()
        if texts and kind < 0.04:
            text = list(draw.choice(texts))
            text.insert(draw.randrange(len(text) + 1), "呀")
            text = "".join(text)
        elif texts and kind < 0.08:
            text = draw.choice(texts) + draw.choice(["", "。", "？？", "然后呢", "（转）"])
        elif texts and kind < 0.12:
            words = re.findall("..?", draw.choice(texts))
            draw.shuffle(words)
            text = "".join(words)
        else:
            words = draw.choices(WORDS, k=draw.randrange(5, 25)) + draw.choices(rare, k=2)
            draw.shuffle(words)
            text = "".join(words)
        texts.append(text)
    return [{"id": f"{i}", "text": text, "score": i % 5} for i, text in enumerate(texts)]


def generated(folder, count):
    """A workspace of these posts in five files, one of which is damaged."""
    rows = posts(count)
    raw = folder / "raw/dumps"
    raw.mkdir(parents=True)
    share = -(-len(rows) // 5)
    for n in range(5):
        part = rows[n * share : (n + 1) * share]
        if n == 4:
            pyarrow.parquet.write_table(pa.Table.from_pylist(part), raw / "part-4.parquet")
            continue
        lines = [json.dumps(row, ensure_ascii=False).encode() for row in part]
        if n == 1:
            lines[3] = b'{"id": "half a line'
            lines[5] = "生鱼片".encode("gb18030")
            lines.append(b"\x00\xff")
        # Ids that the file before has: the first of them stays.
        lines += [json.dumps(row, ensure_ascii=False).encode() for row in rows[max(0, n * share - 20) : n * share]]
        (raw / f"part-{n}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    settings = 'version = 1\n[[source]]\nname = "posts"\nkind = "table"\npath = "raw/dumps/part-*"\n'
    settings += 'fields = { id = "made:{id}", content = "text", score = "score" }\n[filter]\nquestions = false\n'
    (folder / "pipeline.toml").write_text(settings)


def real(folder, reference):
    """A workspace of the real dumps, where they lie."""
    (folder / "raw").mkdir(parents=True)
    shutil.copytree(reference / "data/raw", folder / "raw/dumps")
    kinds = {"leymore/*good*": "leymore-titles", "leymore/*annual*": "leymore-annual", "threads/*": "thread-dump"}
    settings = "version = 1\n"
    for n, (pattern, kind) in enumerate(kinds.items()):
        if not list((folder / "raw/dumps").glob(pattern)):
            raise SystemExit(f"no {pattern} in {reference}/data/raw")
        settings += f'[[source]]\nname = "real-{n}"\nkind = "{kind}"\npath = "raw/dumps/{pattern}"\n'
    (folder / "pipeline.toml").write_text(settings)


def corpus(folder, reference, count):
    """A workspace of made posts, like real ones, that one metric joins."""
    raw = folder / "raw/dumps"
    raw.mkdir(parents=True)
    subprocess.run([sys.executable, str(reference / "tools/make_corpus.py"), str(count), str(folder / "all")], check=True)
    with (folder / "all").open("rb") as rows:
        for n in range(8):
            share = count * (n + 1) // 8 - count * n // 8
            (raw / f"part-{n}.jsonl").write_bytes(b"".join(itertools.islice(rows, share)))
    (folder / "all").unlink()
    settings = 'version = 1\n[[source]]\nname = "posts"\nkind = "table"\npath = "raw/dumps/part-*"\n'
    settings += 'fields = { id = "made:{id}", content = "text" }\n[filter]\nquestions = false\n'
    settings += '[dedup]\nmetric = "indel"\nthreshold = 0.8\n'
    (folder / "pipeline.toml").write_text(settings)


class Cluster:
    """A standalone master and two workers."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        folder.mkdir()
        log = self.start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0")
        self.url = self.wait_for(log, r"Starting Spark master at (spark://\S+)")
        self.workers = [self.worker(n) for n in range(2)]

    def start(self, name, java, *args):
        log = self.folder / f"{name}.log"
        env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", "SPARK_HOME": str(SPARK)}
        command = [str(SPARK / "bin/spark-class"), java, *args, "--webui-port", "0"]
        with log.open("wb") as out:
            # A group of its own: killed with its executors, as when a machine goes.
            process = subprocess.Popen(command, stdout=out, stderr=out, env=env, cwd=self.folder, start_new_session=True)
        self.processes.append(process)
        return log

    def worker(self, name):
        work = str(self.folder / f"work-{name}")
        args = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--work-dir", work, self.url]
        log = self.start(f"worker-{name}", "org.apache.spark.deploy.worker.Worker", *args)
        self.wait_for(log, "Successfully registered with master")
        return self.processes[-1]

    def wait_for(self, log, pattern):
        for _ in range(1500):
            if found := re.search(pattern, log.read_text(errors="replace")):
                return found.group(found.lastindex or 0)
            time.sleep(0.2)
        self.stop()
        raise SystemExit(f"{log.name} never printed {pattern}:\n{log.read_text(errors='replace')}")

    def stop(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Store:
    """An object store on loopback."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url).close()
                break
            time.sleep(0.2)
        self.options = {"key": "none", "secret": "none", "endpoint_url": self.url}

    def take(self, folder, bucket):
        import fsspec

        system = fsspec.filesystem("s3", **self.options)
        system.mkdir(bucket)
        system.put(f"{folder}/raw/", f"{bucket}/raw/", recursive=True)

    def stop(self):
        self.process.kill()
        self.process.wait()


def environment(binary):
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return env | {"SPARK_HOME": str(SPARK), "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONUNBUFFERED": "1", "RIDDLEMILL": str(binary)}


def job_args(workspace, recipe, sizes, store=None):
    """The job's arguments, with so many lanes, rows under one key, and rounds, and many pieces of a dump; or as it is."""
    args = ["--recipe", recipe, "--workspace", str(workspace), "--work", f"{workspace}/books"]
    if store:
        bucket = f"mill-{workspace.name}"
        store.take(workspace, bucket)
        args[-1] = f"s3://{bucket}/work"
        args += ["--dumps", f"s3://{bucket}", "--storage", json.dumps(store.options)]
    if sizes:
        args += ["--lanes", sizes[0], "--split", sizes[1], "--rounds", sizes[2], "--piece", "50000"]
    return args


def submit(cluster, binary, workspace, recipe, kill=False, sizes=("4", "200", "3"), store=None):
    """The job on the cluster. With `kill`, a worker and its executor go when the join begins, and another comes."""
    command = [str(SPARK / "bin/spark-submit"), "--master", cluster.url, "--executor-memory", "800m", "--driver-memory", "700m"]
    settings = {
        # As cluster/README.md advises.
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.RIDDLEMILL": str(binary),
        "spark.ui.enabled": "false",
        "spark.local.dir": str(cluster.folder / "local"),
        "spark.log.level": "ERROR",
    }
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    command += [str(ROOT / "cluster/riddlemill_spark.py"), *job_args(workspace, recipe, sizes, store)]

    def hear(line):
        nonlocal kill
        if kill and line.strip() == f"{recipe}/counts":
            kill = False
            os.killpg(cluster.workers[0].pid, signal.SIGKILL)
            cluster.workers[0] = cluster.worker("again")

    call_job(command, binary, hear)
    assert not kill, "no worker was killed"


def connect(cluster, binary, workspace, recipe):
    """The job through Spark Connect, on a server of its own."""
    command = [sys.executable, str(ROOT / "cluster/riddlemill_spark.py"), *job_args(workspace, recipe, ("4", "200", "1"))]
    call_job(command, binary, more={"SPARK_REMOTE": "local[2]"})


def ray(cluster, binary, workspace, recipe):
    command = [sys.executable, str(ROOT / "cluster/riddlemill_ray.py"), *job_args(workspace, recipe, ("2", "200", "2"))]
    call_job(command, binary, more={"RAY_DEDUP_LOGS": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"})


SBATCH = """#!/usr/bin/env bash
# Runs an array here, two tasks at a time. Every fifth of them is lost when it is first submitted.
for arg; do
    case $arg in
        --array=0-*) last=${arg#--array=0-} ;;
    esac
    wrap=$arg
done
export wrap
one() {
    mark=$(printf '%s' "$wrap $1" | sha256sum | cut -c1-16)
    if [ $((0x${mark:0:4} % 5)) = 0 ] && mkdir "$LOST/$mark" 2>/dev/null; then exit 1; fi
    SLURM_ARRAY_TASK_ID=$1 bash -c "$wrap" || { echo "task $1 of $wrap failed" >&2; exit 1; }
}
export -f one
seq 0 "$last" | xargs -P 2 -I{} bash -c 'one {}'
"""


def slurm(cluster, binary, workspace, recipe):
    tools = cluster.folder / "slurm"
    (tools / "lost").mkdir(parents=True)
    (tools / "sbatch").write_text(SBATCH)
    (tools / "sbatch").chmod(0o755)
    command = [sys.executable, str(ROOT / "cluster/riddlemill_slurm.py"), *job_args(workspace, recipe, ("3", "200", "2")), "--", "--partition=cpu"]
    call_job(command, binary, more={"PATH": f"{tools}:{os.environ['PATH']}", "LOST": str(tools / "lost")})
    assert list((tools / "lost").iterdir()), "no task was lost"


def call_job(command, binary, hear=lambda line: None, more=None):
    process = subprocess.Popen(
        command, env=environment(binary) | (more or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = []
    for line in process.stdout:
        lines.append(line)
        hear(line)
    if process.wait() != 0:
        raise SystemExit(f"the job ended with {process.returncode}:\n{''.join(lines)[-8000:]}")


def busy():
    """CPU seconds of this machine so far. Executors outlive their parents, so that nobody could ask for theirs alone."""
    line = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system = (int(ticks) for ticks in line[:3])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def tree(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def call(binary, workspace, *args, codes=(0,)):
    done = subprocess.run([str(binary), *args, "--workspace", str(workspace)], capture_output=True, text=True)
    assert done.returncode in codes, f"{args} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check(cluster, binary, name, make, recipe, folder, run=submit, **more):
    alone, spread = folder / f"{name}-alone", folder / f"{name}-spread"
    for workspace in (alone, spread):
        make(workspace)
        (workspace / "raw/salt").write_text(SALT)
    started, before = time.monotonic(), busy()
    call(binary, alone, "run", "--offline", "--recipe", recipe, "--to", "dedup", codes=(0, 3))
    one, one_cpu = time.monotonic() - started, busy() - before
    started, before = time.monotonic(), busy()
    run(cluster, binary, spread, recipe, **more)
    took, took_cpu = time.monotonic() - started, busy() - before
    want, got = tree(alone / "staged"), tree(spread / "staged")
    wrong = sorted(path for path in want.keys() | got.keys() if want.get(path) != got.get(path))
    assert not wrong, f"{name}: these differ: {wrong}"
    books = json.loads(want[f"{recipe}/05_dedup/manifest.json"])["counts"]
    assert books["states"].get("merged"), f"{name}: nothing was merged"
    imported = json.loads(want[f"{recipe}/01_import/manifest.json"])["counts"]
    assert "every record is accounted for" in call(binary, spread, "audit")
    parts = sorted((spread / "staged" / recipe / "05_dedup/ledger").glob("*.parquet"))
    post = pyarrow.parquet.read_table(parts[0], columns=["id"])["id"][0].as_py()
    assert post in call(binary, spread, "explain", post, "--recipe", recipe)
    call(binary, spread, "show", "dedup", "--recipe", recipe, "--outcome", "merged", "--sample", "1")
    # Later stages go on from it, and nothing is made again.
    call(binary, spread, "run", "--offline", "--recipe", recipe, "--to", "dedup", codes=(0, 3))
    assert tree(spread / "staged") == got
    print(
        f"{name}: {imported['records_in']} items, {imported['states'].get('failed', 0)} of them unreadable, "
        f"{books['records_in']} into dedup, {books['states']['merged']} merged; "
        f"alone {one:.1f} s and {one_cpu:.0f} CPU s of the machine, in tasks {took:.1f} s and {took_cpu:.0f}; "
        f"all {len(got)} files are the same",
        flush=True,
    )
    return imported


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    wanted = sys.argv[3:] or ["generated", "killed", "connect", "ray", "slurm", "real"]
    reference = os.environ.get("RIDDLEMILL_REFERENCE")
    with tempfile.TemporaryDirectory(prefix="spark-") as folder:
        folder = pathlib.Path(folder)
        cluster, store = Cluster(folder / "cluster"), Store()
        try:
            make = lambda workspace: generated(workspace, count)
            if "generated" in wanted:
                imported = check(cluster, binary, "generated", make, "flub", folder, store=store)
                assert imported["states"]["failed"] == 3, imported
            if "killed" in wanted:
                check(cluster, binary, "killed", make, "flub", folder, kill=True)
            for name, run in {"connect": connect, "ray": ray, "slurm": slurm}.items():
                if name in wanted:
                    check(cluster, binary, name, make, "flub", folder, run=run)
            if "real" in wanted and reference:
                make = lambda workspace: real(workspace, pathlib.Path(reference))
                check(cluster, binary, "real", make, "chumor", folder, sizes=None)
            elif "real" in wanted:
                print("skipped: RIDDLEMILL_REFERENCE is not set")
            if "corpus" in wanted and reference:
                make = lambda workspace: corpus(workspace, pathlib.Path(reference), count)
                check(cluster, binary, "corpus", make, "flub", folder, sizes=None)
        finally:
            cluster.stop()
            store.stop()


if __name__ == "__main__":
    main()
