"""The command: where it is, and calls of it that end on Ctrl-C."""

from __future__ import annotations

import functools
import logging
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from typing import IO, Sequence

from ._errors import RiddlemillError, raised

# What the command says while it works.
log = logging.getLogger("riddlemill")

INTERRUPTED = 130


@functools.cache
def command() -> str:
    """The program of this package: next to the interpreter, or of a user's or target install; `RIDDLEMILL` names
    another."""
    if named := os.environ.get("RIDDLEMILL"):
        return named
    name = "riddlemill" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user")
    package = pathlib.Path(__file__).resolve().parent
    places = [
        pathlib.Path(sysconfig.get_path("scripts")),
        pathlib.Path(sysconfig.get_path("scripts", scheme=user)),
        # `pip install --target` and archives that are unpacked on a cluster.
        package.parent / "bin",
    ]
    for place in places:
        if (place / name).is_file():
            return str(place / name)
    if found := shutil.which(name):
        return found
    tried = ", ".join(str(place) for place in places)
    raise RiddlemillError(f"the program riddlemill is not in {tried}\n  hint: pip install --force-reinstall riddlemill")


def call(args: Sequence[str], *, good: Sequence[int] = (0,), cwd: str | None = None) -> tuple[int, str]:
    """Calls the command and waits for it, without blocking other threads. Returns its exit code and stdout; its stderr
    goes to the logger `riddlemill`.

    Ctrl-C is passed on once: the command finishes what it has to, then KeyboardInterrupt is raised.
    """
    # A process group of its own, so that Ctrl-C in the terminal reaches it only once, through this process.
    # Output that a program reads is not wrapped for a terminal.
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(
        [command(), *args],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        start_new_session=sys.platform != "win32",
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    lines: list[str] = []
    made: list[bytes] = []
    out, err = process.stdout, process.stderr
    assert out is not None and err is not None
    readers = [
        threading.Thread(target=_relay, args=(err, lines), daemon=True),
        threading.Thread(target=lambda: made.append(out.read()), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        code = _wait(process)
    except BaseException:
        _end(process)
        raise
    for reader in readers:
        reader.join()
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code not in good:
        raise raised(code, "\n".join(lines))
    return code, b"".join(made).decode("utf-8")


def _relay(stream: IO[bytes], lines: list[str]) -> None:
    for line in stream:
        text = line.decode("utf-8", "replace").rstrip()
        lines.append(text)
        warns = text.startswith("warning:")
        log.log(logging.WARNING if warns else logging.INFO, "%s", text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Asks the command to stop, and waits until it has; a second Ctrl-C asks again, which abandons requests in flight."""
    for _ in range(2):
        if sys.platform == "win32":
            process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            process.send_signal(signal.SIGINT)
        try:
            _wait(process)
            return
        except KeyboardInterrupt:
            continue
    process.kill()
    process.wait()


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Waits in short intervals: Polars' handler of Ctrl-C restarts system calls, so a long one would not notice it."""
    while True:
        try:
            return process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
