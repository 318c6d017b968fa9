"""`python -m riddlemill` is the command."""

import os
import subprocess
import sys

from ._command import command


def main() -> None:
    args = [command(), *sys.argv[1:]]
    if os.name == "nt":
        # Windows has no exec that keeps the console's process.
        sys.exit(subprocess.run(args).returncode)
    os.execv(args[0], args)


if __name__ == "__main__":
    main()
