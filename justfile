# The common tasks of working on riddlemill; `just` alone lists them. All checks are in .ci/run.

set shell := ["bash", "-cu"]
set positional-arguments

_default:
    @just --list --unsorted

# run the program, unoptimised
build:
    cargo build

# run the tests of one crate whose names begin with this: `just unit riddlemill-text text::clean`
unit crate *names:
    cargo test -p "$1" --lib -- "${@:2}"

# run one module of the tests of the real command in temporary workspaces: `just command fresh::`
command *names:
    cargo test --test integration -- "$@"

# check format, lints and structure: which module may import which, long files
tidy:
    cargo fmt
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test --test tidy

# format the templates, styles and scripts of pages, check the scripts' types and run their tests
pages:
    .ci/pages

# run all checks that a change must pass; `just all 1` includes the slow tiers
all full="":
    RIDDLEMILL_FULL="$1" .ci/run

# check the Python packages: wheels, tests, types, examples; `just python release` uses the optimised program
python profile="dev":
    python/check "$1"

# run one program of benches/: `just bench posts POSTS.jsonl`
bench name *arguments:
    cargo bench --bench "$1" -- "${@:2}"

# rebuild the bundled sample, in the order in which its packs depend on each other
sample:
    RIDDLEMILL_WRITE_SAMPLE=1 cargo test --test integration -- packs:: puzzles_pack::
    RIDDLEMILL_WRITE_SAMPLE=1 cargo test --test integration evaluate_pack::
    RIDDLEMILL_BLESS=1 cargo test --test integration picture::
    git diff --stat -- raw/sample

# rewrite the root's pipeline.toml after a change of its template
settings:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build
    new=$(mktemp -d)
    trap 'rm -rf "$new"' EXIT
    "${CARGO_TARGET_DIR:-target}/debug/riddlemill" init "$new/workspace" --quiet
    cp "$new/workspace/pipeline.toml" pipeline.toml
    git diff --stat -- pipeline.toml

# take the README's pictures again; tests/browser/README.md lists the requirements
pictures:
    cargo build
    RIDDLEMILL="${CARGO_TARGET_DIR:-target}/debug/riddlemill" RIDDLEMILL_PICTURES=docs node tests/browser/run.mjs pictures
    git diff --stat -- docs

# build the program for distribution, stripped
dist:
    cargo rustc --profile dist --bin riddlemill -- -C strip=symbols
    ls -l "${CARGO_TARGET_DIR:-target}/dist/riddlemill"

# write and show the snapshots of these tests: read them before you commit them
snapshots *names:
    INSTA_UPDATE=always cargo test --test integration -- "$@"
    git diff -- '*.snap'

# show where to add a new rule, source, verb or reason
new:
    @sed -n '/A new…/,/^## /p' CONTRIBUTING.md | sed '$d'
