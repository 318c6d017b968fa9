"""The documentation as a site: `docs/build` makes it. Pages are Markdown that also reads well as plain files."""

import re
from pathlib import Path

project = "riddlemill"
author = "the riddlemill authors"
copyright = author
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "riddlemill"
exclude_patterns = ["_build", "requirements.txt"]
source_suffix = {".md": "markdown"}
# Links to headings of other pages, three levels deep.
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]
html_copy_source = False
html_show_sphinx = False
# No clock in the pages: the same sources give the same site.
html_last_updated_fmt = None

OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+([^)#]+)(#[^)]*)?\)")
HERE = Path(__file__).parent


def outside(app, page, source):
    """Files outside docs/ are not pages of the site: their links become their names, and must exist all the same."""

    def named(link):
        folder = (HERE / page).parent
        target = (folder / link[0].split("](", 1)[1].rstrip(")").split("#")[0]).resolve()
        if HERE in target.parents:
            return link[0]
        if not target.exists():
            raise SystemExit(f"{page}.md: {target} is not there")
        return link[1] if link[1].startswith("`") else f"`{link[1]}`"

    source[0] = OUTSIDE.sub(named, source[0])


def setup(app):
    app.connect("source-read", outside)
