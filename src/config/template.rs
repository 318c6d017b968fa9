//! The commented pipeline.toml that `init` writes.

use std::fmt::Write;

use super::VERSION;
use super::sections::SECTIONS;
use super::source::SOURCE;

const HEAD: &str = "\
# Settings of a riddlemill workspace. Every key is listed with its default, commented out.
# default < this file < environment (RIDDLEMILL_DEDUP__METRIC=indel) < flags (--set dedup.metric=indel)
# `riddlemill config` prints what holds and where it came from.
";

const SAMPLE: &str = r#"
# The sample that comes with riddlemill. Put your own dumps in its place.
[[source]]
name = "sample-titles"
kind = "leymore-titles"
path = "raw/sample/dumps/titles.json"
licence = "CC0-1.0"

[[source]]
name = "sample-annual"
kind = "leymore-annual"
path = "raw/sample/dumps/annual.json"
licence = "CC0-1.0"

[[source]]
name = "sample-thread"
kind = "thread-dump"
path = "raw/sample/dumps/thread.jsonl"
licence = "CC0-1.0"

# Riddles and their answers, for BrainTeaser: pages in both layouts of a riddle site, an article, and lines.
[[source]]
name = "sample-riddle-list"
kind = "riddles-com"
path = "raw/sample/puzzles/list.html"
licence = "CC0-1.0"

[[source]]
name = "sample-riddle-pages"
kind = "riddles-com"
path = "raw/sample/puzzles/single-*.html"
licence = "CC0-1.0"

[[source]]
name = "sample-article"
kind = "rd"
path = "raw/sample/puzzles/rd-article.html"
licence = "CC0-1.0"

[[source]]
name = "sample-puzzles"
kind = "puzzles"
path = "raw/sample/puzzles/puzzles.jsonl"
licence = "CC0-1.0"

# Drafts come from replies written beforehand: no network, no key, no money. For a model of your own:
# [llm.mine]
# base_url = "https://api.example.org/v1"
# model = "…"
# key_env = "MINE_KEY"          # the name of the environment variable, never the key
# size_b = 8                    # billions of parameters, for `evaluate`
# usd_per_million_in = 0.15
# usd_per_million_out = 0.60
# max_usd = 5.0
[llm.sample]
provider = "sample"
pack = "raw/sample/replies.jsonl"

# Two models whose explanations of jokes stand against a person's.
[llm.sample-model-e]
provider = "sample"
model = "sample-model-e"
pack = "raw/sample/replies.jsonl"

[llm.sample-model-f]
provider = "sample"
model = "sample-model-f"
pack = "raw/sample/replies.jsonl"

[recipe.chumor.draft]
opponents = ["sample-model-e", "sample-model-f"]

# Three judges of the responses in raw/sample/responses.jsonl.
[llm.sample-judge-1]
provider = "sample"
model = "sample-judge-1"
pack = "raw/sample/replies.jsonl"

[llm.sample-judge-2]
provider = "sample"
model = "sample-judge-2"
pack = "raw/sample/replies.jsonl"

[llm.sample-judge-3]
provider = "sample"
model = "sample-judge-3"
pack = "raw/sample/replies.jsonl"

[recipe.ruozhibench-mc.judge]
endpoints = ["sample-judge-1", "sample-judge-2", "sample-judge-3"]

# A model that answers the finished sets, and a judge of what it says: for `riddlemill evaluate`.
[llm.sample-solver]
provider = "sample"
model = "sample-solver"
pack = "raw/sample/evaluation.jsonl"

[llm.sample-marker]
provider = "sample"
model = "sample-marker"
pack = "raw/sample/evaluation.jsonl"

# BrainTeaser's replies, votes and words lie with its puzzles.
[llm.sample-puzzles]
provider = "sample"
pack = "raw/sample/puzzles/replies.jsonl"

[recipe.brainteaser.draft]
endpoint = "sample-puzzles"

[recipe.brainteaser.review]
sample = "raw/sample/puzzles/votes.jsonl"

[recipe.brainteaser.puzzles]
wordnet = "raw/sample/wordnet"

# Who votes. The sample's own votes are synthetic and count as no person's.
[[annotator]]
name = "annotator-1"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "annotator-2"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "annotator-3"
role = "annotator"
languages = ["zh", "en"]

[[annotator]]
name = "meta-1"
role = "meta"
languages = ["zh", "en"]

# FLUB's juniors and their senior, who passed its trial.
[[annotator]]
name = "junior-1"
role = "junior"
languages = ["zh"]
qualified = true

[[annotator]]
name = "junior-2"
role = "junior"
languages = ["zh"]
qualified = true

[[annotator]]
name = "junior-3"
role = "junior"
languages = ["zh"]
qualified = true

[[annotator]]
name = "senior-1"
role = "senior"
languages = ["zh"]
qualified = true
"#;

const LEYMORE: &str = r#"
# The dumps of github.com/Leymore/ruozhiba. Uncomment them, and `riddlemill fetch` downloads them to raw/dumps.
# See there for their terms: the texts belong to those who wrote them.
# [[source]]
# name = "recommended"
# kind = "leymore-titles"
# url = "https://raw.githubusercontent.com/Leymore/ruozhiba/main/data/ruozhiba-title-good.json"
# sha256 = "9229b141fdfcc8302601a042ca1176f5e10368a26c07a823bc989a5c79b85396"

# [[source]]
# name = "annual"
# kind = "leymore-annual"
# url = "https://raw.githubusercontent.com/Leymore/ruozhiba/main/data/ruozhiba-post-annual.json"
# sha256 = "e2b428ab3987c8013ac0d94a29e15e828b5d813745ad829978907620d22362fa"

# [[source]]
# name = "threads"
# kind = "leymore-titles"
# url = "https://raw.githubusercontent.com/Leymore/ruozhiba/main/data/ruozhiba-title-norm.json"
"#;

/// The settings of an empty workspace.
pub fn default_pipeline() -> String {
    pipeline(LEYMORE)
}

/// The settings of a workspace that uses the sample.
pub fn sample_pipeline() -> String {
    pipeline(&format!("{SAMPLE}{LEYMORE}"))
}

fn pipeline(sources: &str) -> String {
    let mut text = format!("{HEAD}version = {VERSION}\n\n# [[source]]: {}\n", SOURCE.doc);
    for key in SOURCE.keys {
        let _ = writeln!(text, "#   {:<8} {}", key.name, key.doc);
    }
    text.push_str(sources);
    for section in SECTIONS {
        let _ = write!(text, "\n# {}\n[{}]\n", section.doc, section.name);
        for key in section.keys {
            let _ = writeln!(text, "# {}\n# {} = {}", key.doc, key.name, key.default);
        }
    }
    text.push_str(
        "\n# What holds for one recipe only goes into [recipe.<name>.<stage>], for example:\n\
         # [recipe.flub.dedup]\n# margin = 0.15\n",
    );
    text
}
