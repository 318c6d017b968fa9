"""The package works without Polars, except for frames, and says how to get those."""

import subprocess
import sys

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "polars":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""


def ran(code):
    return subprocess.run([sys.executable, "-c", BLOCKED + code], capture_output=True, text=True, timeout=600)


def test_a_workspace_needs_no_polars(tmp_path):
    code = f"""
from riddlemill import Workspace, is_question
mill = Workspace.init({str(tmp_path / "mill")!r})
assert mill.status().stages
assert "polars" not in sys.modules
"""
    result = ran(code)
    assert result.returncode == 0, result.stderr


def test_a_frame_says_how_to_get_it(tmp_path):
    code = f"""
from riddlemill import Workspace
Workspace.init({str(tmp_path / "mill")!r}).status().frame()
"""
    result = ran(code)
    assert "pip install 'riddlemill[frames]'" in result.stderr and result.returncode == 1, result.stderr
