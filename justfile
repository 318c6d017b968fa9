# The habits of working on riddlemill, a name each; `just` alone lists them. Whatever must hold stands in .ci/run.

set shell := ["bash", "-cu"]
set positional-arguments

_default:
    @just --list --unsorted

# the program as it is at work, unoptimised
build:
    cargo build

# the tests whose names begin so, in one crate: `just unit riddlemill-text text::clean`
unit crate *names:
    cargo test -p "$1" --lib -- "${@:2}"

# the real command in temporary workspaces, one module of them: `just command fresh::`
command *names:
    cargo test --test integration -- "$@"

# format, lints and what review forgets: who may import whom, long files
tidy:
    cargo fmt
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test --test tidy

# all that must hold before a change lands; `just all 1` runs the slow tiers too
all full="":
    RIDDLEMILL_FULL="$1" .ci/run

# the Python packages: wheels, tests, types, examples; `just python release` with the optimised program
python profile="dev":
    python/check "$1"

# one program of benches/: `just bench posts POSTS.jsonl`
bench name *arguments:
    cargo bench --bench "$1" -- "${@:2}"

# the bundled sample anew, in the order in which its packs follow from each other
sample:
    RIDDLEMILL_WRITE_SAMPLE=1 cargo test --test integration -- packs:: puzzles_pack::
    RIDDLEMILL_WRITE_SAMPLE=1 cargo test --test integration evaluate_pack::
    RIDDLEMILL_BLESS=1 cargo test --test integration picture::
    git diff --stat -- raw/sample

# the root's pipeline.toml anew, after its template changed
settings:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build
    new=$(mktemp -d)
    trap 'rm -rf "$new"' EXIT
    "${CARGO_TARGET_DIR:-target}/debug/riddlemill" init "$new/workspace" --quiet
    cp "$new/workspace/pipeline.toml" pipeline.toml
    git diff --stat -- pipeline.toml

# the README's pictures anew, of the pages as they are; tests/browser/README.md says what it needs
pictures:
    cargo build
    RIDDLEMILL="${CARGO_TARGET_DIR:-target}/debug/riddlemill" RIDDLEMILL_PICTURES=docs node tests/browser/run.mjs pictures
    git diff --stat -- docs

# the program for handing out, stripped
dist:
    cargo rustc --profile dist --bin riddlemill -- -C strip=symbols
    ls -l "${CARGO_TARGET_DIR:-target}/dist/riddlemill"

# snapshots of the tests named, written and shown: read them before they are committed
snapshots *names:
    INSTA_UPDATE=always cargo test --test integration -- "$@"
    git diff -- '*.snap'

# where a new rule, source, verb or reason goes
new:
    @sed -n '/A new…/,/^## /p' CONTRIBUTING.md | sed '$d'
