"""The folder shared by all machines, through fsspec. A file there is either complete or absent."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import pathlib
import tarfile
import tempfile
import uuid
from collections.abc import Iterator
from typing import Any

import fsspec
import pyarrow as pa

from .._errors import UsageError
from ._plan import Plan


def system_of(plan: Plan, path: str = "") -> tuple[Any, str]:
    """The file system of the folder, and a path there."""
    url = f"{plan.work}/{path}".rstrip("/")
    system, found = fsspec.core.url_to_fs(url, **json.loads(plan.storage))
    return system, found


def check_place(name: str, place: str) -> None:
    """Refuses a place that fsspec cannot reach here, before anything is done. The work folder is written file by file."""
    # Of a chain, as simplecache::s3://, the last is where the files are.
    protocol = place.split("://", 1)[0].rsplit("::", 1)[-1] if "://" in place else "file"
    if name == "--work" and protocol in ("hf", "http", "https"):
        hint = "use a bucket (s3://, gs://) or a shared folder for --work; --dumps may be there"
        raise UsageError(f"{name} {place}: each file would be a commit or cannot be written\n  hint: {hint}")
    try:
        fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        hint = f"{error}; the executors need it, too"
        raise UsageError(f"{name} {place}: fsspec has no reader of {protocol}:// here\n  hint: {hint}") from None
    except ValueError:
        hint = "a path, s3://, gs://, or hf:// for dumps"
        raise UsageError(f"{name} {place}: fsspec does not know {protocol}://\n  hint: {hint}") from None


def is_local(system: Any) -> bool:
    """Whether it is a disk, or one that looks like it."""
    return _speaks(system, "file")


def _shares_handles(system: Any) -> bool:
    """Whether all who open a file get the same handle, with one position: threads would read from each other's."""
    return _speaks(system, "memory")


def _speaks(system: Any, protocol: str) -> bool:
    return protocol in ((system.protocol,) if isinstance(system.protocol, str) else system.protocol)


def write(plan: Plan, path: str, data: bytes) -> None:
    """Writes a complete file. Two tasks that make the same file write the same bytes."""
    system, place = system_of(plan, path)
    if not is_local(system):
        # An object is there when it is whole.
        system.pipe_file(place, data)
        return
    making = f"{place}.{uuid.uuid4().hex}.making"
    system.makedirs(os.path.dirname(place), exist_ok=True)
    with system.open(making, "wb") as file:
        file.write(data)
    os.replace(making, place)


def read(plan: Plan, path: str) -> bytes | None:
    """A file; `None` if it is absent."""
    system, place = system_of(plan, path)
    try:
        found = system.cat_file(place)
    except FileNotFoundError:
        return None
    assert isinstance(found, bytes)
    return found


def packed(data: bytes) -> bytes:
    """In one frame of zstd, with its size in it."""
    return bytes(_codec().compress(data, asbytes=True))


@functools.cache
def _codec() -> Any:
    return pa.Codec("zstd", compression_level=1)


def unpacked(data: bytes) -> bytes:
    """The bytes of frames of zstd."""
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())


def lines_of(plan: Plan, path: str) -> bytes:
    """The lines of a packed file; none if it is absent."""
    data = read(plan, path)
    return b"" if data is None else unpacked(data)


@functools.cache
def _unpack_workspace(work: str, recipe: str, storage: str, shipped: str) -> str:
    """Settings, salt and lists on this machine: unpacked once per process, and removed with it."""
    plan = Plan(recipe, work, (), (), (), (), 1, 1, 1, shipped, storage)
    folder = tempfile.TemporaryDirectory(prefix="riddlemill-")
    _UNPACKED.append(folder)
    archive = read(plan, f"shipped/{shipped}")
    if archive is None:
        raise FileNotFoundError(f"{work}/shipped/{shipped}")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder.name, filter="data")
    return folder.name


# Each is deleted when the process ends.
_UNPACKED: list[tempfile.TemporaryDirectory[str]] = []


def workspace_of(plan: Plan) -> str:
    """The folder on this machine that has the settings, salt and lists of the workspace."""
    return _unpack_workspace(plan.work, plan.recipe, plan.storage, plan.shipped)


def _located(plan: Plan, place: str) -> tuple[Any, str]:
    system, path = fsspec.core.url_to_fs(place, **(json.loads(plan.storage) if "://" in place else {}))
    return system, path


def opened(plan: Plan, place: str) -> Any:
    """A file that can be read from any position."""
    system, path = _located(plan, place)
    if _shares_handles(system):
        return io.BytesIO(system.cat_file(path))
    return system.open(path, "rb")


@contextlib.contextmanager
def fetched(plan: Plan, place: str) -> Iterator[str]:
    """A file of any file system as a local file."""
    system, path = _located(plan, place)
    if is_local(system):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="riddlemill-") as folder:
        local = os.path.join(folder, os.path.basename(path))
        if _shares_handles(system):
            pathlib.Path(local).write_bytes(system.cat_file(path))
        else:
            system.get_file(path, local)
        yield local
