//! What is made from the tables of pipeline.toml: the commented file that `init` writes, and the JSON Schema with which editors
//! complete and check it.

use std::fmt::Write;

use riddlemill_harvest::crawl;
use riddlemill_review::Annotator;
use riddlemill_schema::{Key, Table as _, json_schema as schema};
use serde_json::{Map, Value, json};

use super::VERSION;
use super::sections::{Run, SECTIONS};
use super::source::{PUBLISHED, SOURCE};

const HEAD: &str = "\
# Settings of a riddlemill workspace. Every table and key is here with its default, as a comment: uncomment both the
# table's line and the key's, or write your own tables below.
# default < this file < environment (RIDDLEMILL_DEDUP__METRIC=indel) < flags (--set dedup.metric=indel)
# `riddlemill config` prints every setting and where it came from, `riddlemill config --explain draft` what a table takes.
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

# Drafts come from replies written beforehand: no network, no key, no money.
[llm.sample]
provider = "sample"
pack = "raw/sample/replies.jsonl"

# Two models whose explanations of jokes are compared with a person's.
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

# A model that answers the finished sets, and a judge of its answers: for `riddlemill evaluate`.
[llm.sample-solver]
provider = "sample"
model = "sample-solver"
pack = "raw/sample/evaluation.jsonl"

[llm.sample-marker]
provider = "sample"
model = "sample-marker"
pack = "raw/sample/evaluation.jsonl"

# BrainTeaser's replies, votes and words are in the folder of its puzzles.
[llm.sample-puzzles]
provider = "sample"
pack = "raw/sample/puzzles/replies.jsonl"

[recipe.brainteaser.draft]
endpoint = "sample-puzzles"

[recipe.brainteaser.review]
sample = "raw/sample/puzzles/votes.jsonl"

[recipe.brainteaser.puzzles]
wordnet = "raw/sample/wordnet"
premises = "raw/sample/puzzles/premises.jsonl"

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

/// Settings that most workspaces need sooner or later.
const OWN: &str = r#"
# A model of your own, for drafts: then `endpoint = "mine"` under [draft]. More: `riddlemill config --explain llm`.
# [llm.mine]
# base_url = "https://api.example.org/v1"
# model = "…"
# key_env = "MINE_KEY"          # the name of the environment variable, never the key
# usd_per_million_in = 0.15     # both prices, or free = true: without them nothing is sent
# usd_per_million_out = 0.60
# max_usd = 5.0
# size_b = 8                    # billions of parameters, for `evaluate`

# Who votes, a table for each. FLUB wants juniors and a senior who are qualified. More: `config --explain annotator`.
# [[annotator]]
# name = "a1"                   # a code, not a person's name
# role = "annotator"            # annotator, junior, senior, meta
# languages = ["zh", "en"]
# qualified = true

# Pages to archive with `riddlemill crawl NAME`; docs/crawl.md has every key. More: `riddlemill config --explain crawl`.
# [[crawl]]
# name = "forum"
# site = "tieba"                # whose pages; others are described by a profile: `riddlemill profiles list`
# seeds = [{ good_forum = "弱智" }]
# contact = "you@example.org"   # sent with every request
# scope = { max_pages = 5000, max_list_pages = 20 }
"#;

/// The settings of an empty workspace.
pub fn default_pipeline() -> String {
    pipeline(&format!("{LEYMORE}{OWN}"))
}

/// The settings of a workspace that uses the sample.
pub fn sample_pipeline() -> String {
    pipeline(&format!("{SAMPLE}{LEYMORE}{OWN}"))
}

/// The settings that a benchmark declares, as comments; empty if it has none.
pub fn own_settings(benchmark: &riddlemill_benchmarks::Benchmark) -> String {
    let mut text = String::new();
    let mut section = "";
    for own in &benchmark.own.declared {
        if section != own.section {
            section = own.section;
            // Writing to a String cannot fail.
            let _ = write!(text, "\n# [recipe.{}.{section}]\n", benchmark.name);
        }
        let _ = writeln!(text, "# {}\n# {} = {}", own.key.doc, own.key.name, own.key.default);
    }
    text
}

fn pipeline(sources: &str) -> String {
    let mut text = format!("{HEAD}version = {VERSION}\n\n# [[source]]: {}\n", SOURCE.doc);
    for key in SOURCE.keys {
        let _ = writeln!(text, "#   {:<9} {}", key.name, key.doc);
    }
    let _ = write!(text, "\n# [[published]]: {}\n", PUBLISHED.doc);
    for key in PUBLISHED.keys {
        let _ = writeln!(text, "#   {:<9} {}", key.name, key.doc);
    }
    text.push_str(sources);
    for section in SECTIONS {
        let _ = write!(text, "\n# {}\n# [{}]\n", section.doc, section.name);
        for key in section.keys {
            let _ = writeln!(text, "# {}\n# {} = {}", key.doc, key.name, key.default);
        }
    }
    text.push_str(
        "\n# Settings for one recipe go into [recipe.<name>.<stage>], for example:\n\
         # [recipe.flub.dedup]\n# margin = 0.15\n",
    );
    for benchmark in riddlemill_benchmarks::all_benchmarks() {
        text.push_str(&own_settings(benchmark));
    }
    text
}

/// The schema of pipeline.toml for these recipes, in the dialect of 2020-12.
pub fn json_schema(recipes: &[&str]) -> Value {
    let mut properties = Map::new();
    properties.insert("version".into(), json!({ "type": "integer", "maximum": VERSION }));
    for section in SECTIONS {
        properties.insert(section.name.into(), schema::table_schema(section.doc, section.keys));
    }
    for section in [SOURCE, PUBLISHED, Annotator::SECTION, crawl::settings::Source::SECTION] {
        properties.insert(
            section.name.into(),
            schema::list_schema(schema::table_schema(section.doc, section.keys)),
        );
    }
    let endpoint = schema::table_schema(super::LLM.doc, super::LLM.keys);
    properties.insert("llm".into(), json!({ "type": "object", "additionalProperties": endpoint }));
    // What a folder that is set aside declares is not known.
    let aside =
        riddlemill_benchmarks::set_aside_folders().iter().map(|aside| (aside.name.to_owned(), json!({})));
    let of_recipes: Map<String, Value> =
        recipes.iter().map(|recipe| ((*recipe).to_owned(), of_recipe(recipe))).chain(aside).collect();
    let of_recipes = json!({ "type": "object", "properties": of_recipes, "additionalProperties": false });
    properties.insert("recipe".into(), of_recipes);
    json!({
        "$schema": schema::DIALECT,
        "title": "Settings of a riddlemill workspace",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// What one recipe may set: all but what concerns a run as a whole, and what its benchmark declares.
fn of_recipe(recipe: &str) -> Value {
    let shared = SECTIONS.iter().filter(|section| section.name != Run::SECTION.name);
    let own = super::own_sections(recipe)
        .into_iter()
        .filter(|name| SECTIONS.iter().all(|section| section.name != *name));
    let shared = shared.map(|section| (section.name, section.doc, section.keys));
    let tables = shared.chain(own.map(|name| (name, "", &[] as &[Key])));
    let table = |(name, doc, keys): (&str, &str, &[Key])| {
        let keys: Vec<Key> = keys.iter().copied().chain(super::own_keys(recipe, name)).collect();
        (name.to_owned(), schema::table_schema(doc, &keys))
    };
    let tables: Map<String, Value> = tables.map(table).collect();
    json!({ "type": "object", "properties": tables, "additionalProperties": false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, FILE, Overrides, Problems};

    fn load(text: &str) -> Result<Config, Problems> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), text).unwrap();
        Config::load(dir.path(), &crate::recipe::recipe_names(), &[], &Overrides::default())
    }

    fn problems(text: &str) -> String {
        load(text).err().unwrap().to_string()
    }

    /// The file with these lines uncommented.
    fn uncommented(text: &str, first: &str) -> String {
        let mut open = false;
        let line = |line: &str| {
            open = line == first || open && line.starts_with("# ");
            if open { format!("{}\n", &line[2..]) } else { format!("{line}\n") }
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn what_the_readme_says_can_be_appended() {
        for text in [default_pipeline(), sample_pipeline()] {
            let text = format!(
                "{text}\n[llm.mine]\nmodel = \"m\"\n\n[draft]\nendpoint = \"mine\"\nmax_usd = 20.0\n"
            );
            let config = load(&text).unwrap();
            assert!(config.endpoints.iter().any(|endpoint| endpoint.name == "mine"));
        }
    }

    #[test]
    fn the_commented_tables_are_tables() {
        let text = default_pipeline();
        let config = load(&uncommented(&text, "# [llm.mine]")).unwrap();
        assert_eq!(config.endpoints[0].key_env.as_deref(), Some("MINE_KEY"));
        let config = load(&uncommented(&text, "# [[annotator]]")).unwrap();
        assert_eq!(config.annotators[0].name, "a1");
        let config = load(&uncommented(&text, "# [[crawl]]")).unwrap();
        assert_eq!(config.crawls[0].seeds.len(), 1);
    }

    #[test]
    fn a_key_without_its_table_says_which() {
        let text = sample_pipeline().replace("# max_reasks = 2", "max_reasks = 2");
        let of_annotator = problems(&text);
        let of_filter = problems("[filter]\nmax_reasks = 2\n");
        for problem in [of_annotator, of_filter] {
            assert!(
                problem.contains(
                    "unknown key \"max_reasks\"\n  hint: it is one of [draft]; is that line still a comment?"
                ),
                "{problem}"
            );
        }
    }

    #[test]
    fn duplicates_are_named() {
        let problem = problems("[draft]\nmax_reasks = 1\n\n[filter]\nmin_chars = 2\n[draft]\nmax_usd = 1\n");
        assert_eq!(
            problem,
            "pipeline.toml:6:2: [draft] is already in the file, at line 1\n  hint: put its keys there, and leave this line out"
        );
        let problem = problems("[filter]\nmin_chars = 2\nmax_chars = 3\nmin_chars = 4\n");
        assert_eq!(problem, "pipeline.toml:4:1: `min_chars` is set already, at line 2");
    }
}
