#!/usr/bin/env python3
"""Makes a recipe's import, clean, anonymise, filter and dedup with Slurm's arrays.

    python cluster/riddlemill_slurm.py --recipe flub --work /mnt/shared/mill -- --partition=cpu --mem-per-cpu=2G

Runs where jobs are submitted. The tasks are those of `riddlemill.cluster`: a task of a phase, and then each lane of a
step, is one of an array, which `sbatch --wait` waits for; what goes from one to the next lies in the folder `--work`,
which all nodes see. A task that failed is made again, up to three times; one that is done is not.
"""

import os
import pathlib
import pickle
import shutil
import subprocess
import sys

from riddlemill.cluster import arguments, run_job, run_step, run_task

# Slurm accepts no larger arrays unless it is configured to (MaxArraySize).
ARRAY = 1000


class Slurm:
    """An engine of `riddlemill.cluster`: blocks lie in a folder a lane, in files a task."""

    def __init__(self, work, options):
        self.place = pathlib.Path(work).resolve() / "arrays"
        self.options = options
        shutil.rmtree(self.place, ignore_errors=True)

    def run(self, plan, phase):
        folder = self.place / phase.name.replace("/", "-").replace(" ", "-")
        folder.mkdir(parents=True)
        work = [phase.first, *(name for name, _ in phase.steps)]
        (folder / "plan").write_bytes(pickle.dumps((plan, work)))
        numbers = list(range(phase.tasks))
        for turn in range(len(work)):
            self.array(folder, turn, numbers)
            given = folder / f"given-{turn}"
            numbers = sorted(int(lane.name) for lane in given.iterdir()) if given.is_dir() else []
        last = folder / f"given-{len(work) - 1}"
        return [block for lane in numbers for block in blocks_of(last / str(lane))]

    def array(self, folder, turn, numbers):
        """Makes what is not made yet of these numbers."""
        for _ in range(3):
            todo = [n for n in numbers if not (folder / f"done-{turn}" / str(n)).exists()]
            if not todo:
                return
            for start in range(0, len(todo), ARRAY):
                part = todo[start : start + ARRAY]
                (folder / f"todo-{turn}-{start}").write_text(" ".join(map(str, part)))
                task = [sys.executable, str(pathlib.Path(__file__).resolve()), "--task", str(folder), str(turn), str(start)]
                log = f"{folder}/log-{turn}-%a"
                array = ["sbatch", "--wait", f"--array=0-{len(part) - 1}", f"--output={log}", *self.options]
                subprocess.run([*array, "--wrap", " ".join(f"'{word}'" for word in task)])
        missing = [n for n in numbers if not (folder / f"done-{turn}" / str(n)).exists()]
        if missing:
            raise SystemExit(f"{folder}: tasks {missing[:20]} failed three times; log-{turn}-* say why")


def task(folder, turn, start):
    """One of an array."""
    plan, work = pickle.loads((folder / "plan").read_bytes())
    number = int((folder / f"todo-{turn}-{start}").read_text().split()[int(os.environ["SLURM_ARRAY_TASK_ID"])])
    if turn == 0:
        made = run_task(plan, work[0], number)
    else:
        given = folder / f"given-{turn - 1}" / str(number)
        made = run_step(plan, work[turn], number, blocks_of(given))
    lanes = {}
    for lane, block in made:
        lanes.setdefault(lane, []).append(block)
    for lane, blocks in lanes.items():
        whole(folder / f"given-{turn}" / str(lane) / str(number), pickle.dumps(blocks))
    whole(folder / f"done-{turn}" / str(number), b"")


def blocks_of(folder):
    return [block for file in sorted(folder.iterdir()) if "." not in file.name for block in pickle.loads(file.read_bytes())]


def whole(path, data):
    """A file that is whole or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    making = path.with_name(f"{path.name}.{os.getpid()}.making")
    making.write_bytes(data)
    os.replace(making, path)


def main():
    if sys.argv[1:2] == ["--task"]:
        return task(pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    parser = arguments(__doc__, work="a folder for what lies between tasks, which all nodes see")
    parser.add_argument("options", nargs="*", help="of sbatch, behind --")
    args = parser.parse_args()
    if "://" in args.work:
        parser.error(f"--work {args.work}: arrays need a folder that all nodes see")
    # A node works in another folder.
    args.work = str(pathlib.Path(args.work).resolve())
    run_job(args, Slurm(args.work, args.options))


if __name__ == "__main__":
    main()
