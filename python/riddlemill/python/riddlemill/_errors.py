"""The exceptions of calls: the command's exit codes, with its messages."""

from __future__ import annotations

import json


class RiddlemillError(Exception):
    """The command failed. `str()` is its message with hints; `hint` is only the hint, `code` the exit code."""

    code: int = 4

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code

    @property
    def hint(self) -> str | None:
        """What to do about it, if the command has a hint."""
        hints = [line.split("hint:", 1)[1].strip() for line in self.message.splitlines() if "hint:" in line]
        return "\n".join(hints) or None

    def __reduce__(self) -> tuple[type[RiddlemillError], tuple[str, int]]:
        return type(self), (self.message, self.code)


class UsageError(RiddlemillError, ValueError):
    """The arguments or pipeline.toml cannot be used: each mistake with file, line and column."""

    code = 2


class Gap(RiddlemillError):
    """An audit or a check of raw/ found a gap."""

    code = 1


class NotFound(RiddlemillError, LookupError):
    """There is no such post, stage or release."""

    code = 1


class Failed(RiddlemillError, OSError):
    """A file could not be read or written."""

    code = 4

    def __str__(self) -> str:
        return self.message


class Busy(RiddlemillError):
    """Another run is using the recipe."""

    code = 5


KINDS: dict[int, type[RiddlemillError]] = {1: Gap, 2: UsageError, 4: Failed, 5: Busy}


def raised(code: int, text: str) -> RiddlemillError:
    """The exception of an exit code, with the command's messages on stderr."""
    message = text.strip()
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                message = json.loads(line)["error"]
                break
            except (ValueError, KeyError):
                continue
    message = message.removeprefix("error: ") or f"riddlemill ended with {code}"
    return KINDS.get(code, RiddlemillError)(message, code)
