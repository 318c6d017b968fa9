//! Settings: every problem at once, with its place and the probable intention; and which source takes
//! precedence.

use crate::harness::Workspace;

const WRONG: &str = r#"version = 1

[[source]]
name = "good one"
kind = "leymore-title"
path = "raw/dumps/a.json"

[[source]]
nmae = "b"
kind = "thread-dump"
path = "raw/dumps/b.jsonl"
recipes = ["flubb"]
sha256 = "abc"

[dedupe]
threshold = 0.9

[filter]
min_chars = "four"
max_chars = -3
  questoins = true

[dedup]
metric = "jacard"
threshold = 1.5
keep = ["longest"]

[recipe.ruozhibench.filter]
questions = true

[recipe.flub.clena]
join = "newline"
"#;

#[test]
fn every_problem_at_once() {
    let result = Workspace::with(WRONG).call(["run"]).expect(2);
    assert_eq!(result.out, "");
    insta::assert_snapshot!("wrong_settings", result.err);
}

#[test]
fn problems_of_files_environment_and_flags_together() {
    let ws = Workspace::with("[filter]\nmin_char = 3\n");
    let mut command = ws.command(["config", "--set", "dedup.metrik=indel", "--set", "clean.join=both"]);
    let output = command
        .env("RIDDLEMILL_FILTER__MAX_CHARS", "many")
        .env("RIDDLEMILL_NO_SETTING", "x")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!("wrong_layers", String::from_utf8(output.stderr).unwrap());
}

#[test]
fn what_is_no_toml_is_placed() {
    let result = Workspace::with("[filter]\nmin_chars = \n").call(["status"]).expect(2);
    assert!(result.err.contains("pipeline.toml:2:13: "), "{}", result.err);
    let result = Workspace::with("[filter]\nmin_chars = 9\nmax_chars = 3\n").call(["run"]).expect(2);
    assert!(result.err.contains("filter.min_chars (9) is over filter.max_chars (3)"), "{}", result.err);
}

#[test]
fn a_newer_file_is_not_guessed_at() {
    let ws = Workspace::with("version = 99\n[future]\nkey = 1\n");
    let result = ws.call(["run"]).expect(2);
    insta::assert_snapshot!("newer_settings", result.err);
    assert!(ws.derived().is_empty());
}

#[test]
fn no_workspace_no_source() {
    let result = Workspace::folder().call(["run"]).expect(2);
    assert!(result.err.contains("riddlemill init"), "{}", result.err);
    let result = Workspace::with("").call(["run"]).expect(2);
    assert!(result.err.contains("no [[source]] is named"), "{}", result.err);
    let result = Workspace::sample().call(["run", "--recipe", "flob"]).expect(2);
    assert!(result.err.contains("unknown recipe \"flob\"") && result.err.contains("flub"), "{}", result.err);
}

#[test]
fn a_later_layer_wins_and_says_so() {
    let ws = Workspace::with("[dedup]\nmetric = \"indel\"\nmargin = 0.2\nthreshold = 0.7\n");
    let mut command = ws.command(["config", "--set", "dedup.threshold=0.9"]);
    command.env("RIDDLEMILL_DEDUP__MARGIN", "0.3").env("RIDDLEMILL_DEDUP__THRESHOLD", "0.75");
    command.env("RIDDLEMILL_RECIPE__RUOZHIBENCH_GEN__DEDUP__KEEP", "earliest");
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |key: &str| {
        let line = text
            .lines()
            .find(|l| l.starts_with(&format!("{key} = ")))
            .unwrap_or_else(|| panic!("{key}\n{text}"));
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("dedup.metric"), "dedup.metric = \"indel\" # pipeline.toml:2");
    assert_eq!(line("dedup.margin"), "dedup.margin = 0.3 # RIDDLEMILL_DEDUP__MARGIN");
    assert_eq!(line("dedup.threshold"), "dedup.threshold = 0.9 # flag");
    assert_eq!(line("dedup.normalize"), "dedup.normalize = true # default");
    assert_eq!(
        line("recipe.ruozhibench-gen.filter.questions"),
        "recipe.ruozhibench-gen.filter.questions = true # recipe"
    );
    assert_eq!(
        line("recipe.ruozhibench-gen.dedup.keep"),
        "recipe.ruozhibench-gen.dedup.keep = \"earliest\" # RIDDLEMILL_RECIPE__RUOZHIBENCH_GEN__DEDUP__KEEP"
    );
}

#[test]
fn every_key_of_the_commented_file_can_be_set() {
    let ws = Workspace::sample();
    let text = ws.read("pipeline.toml");
    let keys = riddlemill::config::sections::SECTIONS.iter().flat_map(|s| s.keys.iter().map(move |k| (s, k)));
    let mut set = text.clone();
    for (section, key) in keys {
        let commented = format!("# {} = {}\n", key.name, key.default);
        assert!(text.contains(&commented), "[{}] {}", section.name, key.name);
        set = set.replacen(&commented, &commented[2..], 1);
        set = set.replacen(&format!("\n# [{}]\n", section.name), &format!("\n[{}]\n", section.name), 1);
    }
    let before = ws.call(["config"]).expect(0).out;
    ws.write("pipeline.toml", set);
    let after = ws.call(["config"]).expect(0).out;
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|l| l.split("  #").next().unwrap().trim().to_string()).collect()
    };
    // The file takes precedence over a recipe's default.
    let general = |text: &str| -> Vec<String> {
        values(text).into_iter().filter(|l| !l.starts_with("recipe.")).collect()
    };
    assert_eq!(general(&before), general(&after));
}

#[test]
fn every_number_of_an_endpoint_is_checked() {
    let all = [
        "max_usd = nan",
        "max_usd = inf",
        "max_usd = -1.0",
        "max_usd = 2026-01-01",
        "max_usd = \"5\"",
        "usd_per_million_in = -0.1",
        "usd_per_million_out = nan",
        "free = 1",
        "concurrency = 0",
        "rpm = -3",
        "sampling = { max_tokens = 0 }",
        "sampling = { max_tokens = 10, temperature = nan }",
        "timeouts = { total_secs = -1.0 }",
        "retries = { max_attempts = 0, max_wait_secs = 2026-01-01 }",
        "size_b = nan",
        "model = 2026-01-01",
    ];
    let actual = |line: &str| {
        let ws = Workspace::with(&format!("[llm.mine]\n{line}\n"));
        format!("{line}\n{}", ws.call(["status"]).expect(2).err)
    };
    insta::assert_snapshot!("endpoint_numbers", all.map(actual).join("\n"));
    let fine = "[llm.mine]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\nmax_usd = 0\nusd_per_million_in = 0.15\nrpm = 60\nsampling = { max_tokens = 10, top_p = 1 }\n";
    let result = Workspace::with(fine).call(["config"]).expect(0);
    assert!(result.err.is_empty(), "{}", result.err);
}

#[test]
fn a_name_given_twice_a_format_for_a_kind_and_a_key_outside_of_its_table_are_mistakes() {
    let err = |settings: &str| Workspace::with(settings).call(["status"]).expect(2).err;
    let person = "[[annotator]]\nname = \"a-1\"\nrole = \"meta\"\n";
    let twice = err(&format!("version = 1\n{person}{person}"));
    assert!(twice.contains("pipeline.toml:6:8: two annotators are named \"a-1\""), "{twice}");
    let named = err(&format!("version = 1\n{person}languages = [\"zh\", \"chinese\"]\n"));
    assert!(named.contains("pipeline.toml:5:13: languages: \"chinese\" is no code of a language"), "{named}");
    for format in ["csv", "jsonl"] {
        let told = err(&format!(
            "version = 1\n[[source]]\nname = \"s\"\nkind = \"{format}\"\npath = \"s.{format}\"\nfields = {{ content = \"c\" }}\n"
        ));
        assert!(told.contains("did you mean \"table\"?") && told.contains("pipeline.toml:4:8"), "{told}");
        assert!(!told.contains("has fields"), "{told}");
    }
    let outside = err("version = 1\nthreshold = 0.8\n");
    assert!(outside.contains("unknown key \"threshold\"") && outside.contains("[dedup]"), "{outside}");
}

#[test]
fn an_endpoint_without_a_model_is_told_at_once_and_not_of_its_price() {
    let ws = Workspace::sample();
    let settings = ws.read("pipeline.toml") + "\n[llm.bare]\nkey_env = \"NO_SUCH_KEY\"\n";
    ws.write("pipeline.toml", settings);
    let told = ws.call(["status"]).expect(0).err;
    assert!(told.contains("[llm.bare] lacks base_url and model"), "{told}");
    assert!(told.contains("warning: pipeline.toml:"), "{told}");
}

#[test]
fn a_recipe_without_a_source_is_refused_by_name_too() {
    let told = Workspace::with("version = 1\n").call(["run", "--recipe", "flub"]).expect(2).err;
    assert!(told.contains("no [[source]] is named for flub"), "{told}");
}

#[test]
fn what_is_assigned_before_a_run_says_which_run() {
    let told = Workspace::sample().call(["review", "assign", "screen", "--recipe", "chumor"]);
    assert!(told.code != 0 && told.err.contains("riddlemill run --recipe chumor"), "{}", told.err);
}
