//! The first steps in a workspace: wrong names are reported with the probable intention, and nothing is
//! assumed silently.

use crate::harness::{Workspace, reference, source, title};

/// A message on stderr, without what differs from machine to machine.
fn actual(ws: &Workspace, args: &[&str], code: i32) -> String {
    ws.call(args).expect(code).err.replace(&ws.root().display().to_string(), "WORKSPACE")
}

#[test]
fn outside_of_a_workspace_it_says_how_to_make_one() {
    let result = actual(&Workspace::folder(), &["run"], 2);
    insta::assert_snapshot!(result, @r"
    error: ./pipeline.toml: no workspace here
      hint: `riddlemill init` creates one; `-C DIR` selects one elsewhere
    ");
}

#[test]
fn a_wrong_name_is_reported_with_what_was_meant() {
    let ws = Workspace::sample();
    let all = [
        vec!["run", "--recipe", "flob"],
        vec!["run", "--recipe", "flub", "--to", "dedupp"],
        vec!["show", "filtr"],
        vec!["show", "dedup", "--reason", "near_duplicat"],
        vec!["show", "dedup", "--outcome", "merge"],
        vec!["release", "chumour"],
        vec!["review", "export", "tipe"],
        vec!["review", "export", "type", "--recipe", "chumor"],
        vec!["crawl", "x"],
        vec!["fetch", "sample-title"],
        vec!["access", "grant", "annotator-9", "--rank", "annotator"],
        vec!["status", "--set", "review.draft_ahead=[\"wrongg\"]"],
        vec!["status", "--set", "recipe.chumor.draft.optional=[\"topic\"]"],
        vec!["config", "--explain", "dedupp"],
        vec!["config", "--explain", "draft.endpont"],
    ];
    let result: Vec<String> =
        all.iter().map(|args| format!("$ {}\n{}", args.join(" "), actual(&ws, args, 2))).collect();
    insta::assert_snapshot!("near_misses", result.join("\n"));
    assert!(!ws.exists("staged/flub"), "nothing was made");
}

#[test]
fn fields_and_annotators_are_named_too() {
    let ws = Workspace::sample();
    ws.call(["run", "--offline", "--recipe", "flub", "--to", "dedup"]).expect(0);
    let result = actual(&ws, &["review", "export", "clean", "--annotator", "junior-9"], 2);
    insta::assert_snapshot!(result, @r#"
    error: unknown annotator "junior-9"
      hint: did you mean "junior-1"?
    "#);
    let result = actual(&ws, &["review", "assign", "clean", "--to", "meta-1"], 2);
    assert!(result.contains("meta-1: role = \"meta\", but the step requires"), "{result}");
    let result = actual(&ws, &["review", "assign", "clean", "--language", "fr"], 2);
    assert!(result.contains("0 may vote") && result.contains("languages lack fr"), "{result}");
}

#[test]
fn no_recipe_is_taken_silently() {
    let ws = Workspace::sample();
    ws.call(["run", "--offline", "--to", "dedup"]).expect(0);
    let result = actual(&ws, &["review", "export", "screen"], 2);
    insta::assert_snapshot!(result, @r"
    error: review:screen is a step of ruozhibench-gen and chumor; name one
      hint: --recipe ruozhibench-gen
    ");
    let result = ws.call(["review", "export", "clean", "--out", "ballots"]).expect(0);
    assert!(result.out.contains("flub"), "one recipe has the step: {}", result.out);
    // The recipes named in the workspace's settings apply, too.
    let result =
        ws.call(["review", "export", "screen", "--out", "ballots", "--set", "run.recipes=[\"chumor\"]"]);
    assert!(result.expect(0).out.contains("chumor"));
}

#[test]
fn the_reference_of_the_settings_is_one_command_away() {
    let nowhere = Workspace::folder();
    let actual = |topic: &str| nowhere.call(["config", "--explain", topic]).expect(0).out;
    let draft = actual("draft");
    for key in riddlemill::config::find_section("draft").unwrap().keys {
        assert!(
            draft.contains(&format!("\n  {}\n", key.name)) && draft.contains(key.doc),
            "{}: {draft}",
            key.name
        );
    }
    insta::assert_snapshot!(actual("review.optional"), @r#"
    Ballots; a step is named as in review:<step>.

      optional
        Steps that hold no record: undecided records continue without an answer.
        a list of steps, ["…", "…"]; default: []
    "#);
    assert!(actual("llm").contains("key_env") && actual("annotator").contains("qualified"));
    assert!(actual("llm.timeouts").contains("timeouts.total_secs"));
    let all = nowhere.call(["config", "--explain"]).expect(0).out;
    assert!(["draft ", "llm ", "crawl ", "source "].iter().all(|table| all.contains(table)), "{all}");
    let json: serde_json::Value =
        serde_json::from_str(&nowhere.call(["config", "--explain", "dedup", "--json"]).expect(0).out)
            .unwrap();
    assert_eq!(json["keys"][0]["key"], "metric");
}

#[test]
fn a_workspace_of_ones_own_hears_nothing_of_the_sample() {
    let ws = Workspace::folder();
    // The sample is created, then replaced by one's own dumps.
    ws.call(["init"]).expect(0);
    let text = ws.read("pipeline.toml");
    let from = text.find("[[source]]\nname = \"sample-titles\"").unwrap();
    let to = text.find("[llm.sample]").unwrap();
    let own = source("own", "leymore-titles", "raw/dumps/own.json");
    ws.write("pipeline.toml", format!("{}{own}\n{}", &text[..from], &text[to..]));
    ws.write("raw/dumps/own.json", format!("[{}]", title(1, "为什么鱼不会口渴？")));
    for args in
        [vec!["run", "--offline"], vec!["status"], vec!["run", "--offline", "--recipe", "ruozhibench-mc"]]
    {
        let result = ws.call(&args).expect(0);
        assert!(
            !result.err.contains("raw/sample") && !result.err.contains("warning"),
            "{args:?}: {}",
            result.err
        );
    }
    let empty = Workspace::folder();
    empty.call(["init", "--empty"]).expect(0);
    let settings = empty.read("pipeline.toml");
    empty.write("pipeline.toml", format!("{settings}\n{own}"));
    empty.write("raw/dumps/own.json", format!("[{}]", title(1, "为什么鱼不会口渴？")));
    let result = empty.call(["run", "--offline"]).expect(0);
    assert!(!result.err.contains("raw/sample") && !result.err.contains("warning"), "{}", result.err);
}

#[test]
fn a_stage_of_another_name_is_found_and_gone() {
    let ws = Workspace::sample();
    ws.write("staged/flub/11_wrong/manifest.json", "{}");
    ws.call(["run", "--offline", "--recipe", "flub", "--to", "wrong"]).expect(0);
    assert!(ws.exists("staged/flub/11_wrong-candidates/manifest.json") && !ws.exists("staged/flub/11_wrong"));
    let result = ws.call(["show", "wrong", "--recipe", "flub"]).expect(0);
    assert!(result.out.contains("flub wrong-candidates: "), "{}", result.out);
}

#[test]
fn help_separates_a_verbs_own_options_from_those_of_all() {
    let help = Workspace::folder().call(["run", "--help"]).expect(0).out;
    let (own, all) = help.split_once("Options of every verb:").unwrap();
    assert!(own.contains("--preview") && !own.contains("--workspace"), "{own}");
    assert!(all.contains("--workspace") && !all.contains("--preview"), "{all}");
}

#[test]
fn a_shell_completes_what_the_workspace_knows() {
    let ws = Workspace::sample();
    ws.write("output/flub/1.2.0/MANIFEST.json", "{}");
    let script = ws.call(["completions", "bash"]).expect(0).out;
    assert!(script.contains("complete ") && script.contains("riddlemill"), "{script}");
    let complete = |words: &[&str]| {
        let mut command = ws.command(["--", "riddlemill"]);
        let at = words.len().to_string();
        command.args(words).env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", at);
        command
            .env("_CLAP_IFS", "\n")
            .env("_CLAP_COMPLETE_COMP_TYPE", "9")
            .env("_CLAP_COMPLETE_SPACE", "true");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let has = |words: &[&str], name: &str| {
        let found = complete(words);
        assert!(found.lines().any(|line| line.trim() == name), "{words:?}: {found}");
    };
    has(&["run", "--recipe", "ch"], "chumor");
    has(&["run", "--to", "wrong"], "wrong-candidates");
    has(&["show", "ded"], "dedup");
    has(&["review", "export", "type", "--annotator", "juni"], "junior-2");
    has(&["evaluate", "flub@"], "flub@1.2.0");
    has(&["release", "flub", "--version", "1."], "1.2.0");
    has(&["config", "--explain", "anno"], "annotator");
    has(&["fetch", "sample-t"], "sample-titles");
    has(&["status", "--set", "dedup.thr"], "dedup.threshold=");
}

#[test]
fn a_preview_goes_through_the_whole_recipe_and_is_provisional() {
    for recipe in ["ruozhibench-gen", "flub", "brainteaser"] {
        let ws = Workspace::sample();
        let key = format!("recipe.{recipe}.review.sample=");
        let run = |more: &[&str]| {
            let base = ["run", "--offline", "--recipe", recipe, "--set", &key];
            ws.call(base.iter().chain(more).copied()).expect(0)
        };
        run(&[]);
        let before = ws.derived();
        run(&["--preview"]);
        // It is made without people's votes, which the audit reports.
        let audit = ws.call(["audit", "--recipe", recipe]).expect(1);
        assert!(audit.out.contains("preview true -> null"), "{recipe}: {}", audit.out);
        let status = ws.call(["verify", &format!("output/{recipe}/candidate")]).expect(0);
        let rows = rows(&ws, recipe);
        assert!(!rows.is_empty(), "{recipe}: {}", status.out);
        assert!(rows.iter().all(|row| row["standing"] == "provisional"), "{recipe}: {rows:?}");
        // Without the flag everything is unchanged.
        run(&[]);
        crate::harness::assert_same(&before, &ws.derived(), recipe);
    }
}

/// The rows of a candidate, of all its configs.
fn rows(ws: &Workspace, recipe: &str) -> Vec<serde_json::Value> {
    let data = ws.path(&format!("output/{recipe}/candidate/data"));
    let files = glob(&data);
    let rows = files.iter().flat_map(|file| {
        std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    });
    rows.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

fn glob(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(glob(&path));
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
    found
}

#[test]
fn some_of_a_finished_step_are_checked_by_whom_one_names() {
    let ws = Workspace::sample();
    ws.call(["run", "--offline", "--recipe", "flub", "--to", "review:clean"]).expect(0);
    let assign = |more: &[&str]| {
        let base = ["review", "assign", "clean", "--json"];
        let result = ws.call(base.iter().chain(more).copied()).expect(0);
        serde_json::from_str::<Vec<serde_json::Value>>(&result.out).unwrap()
    };
    let who = "junior-2";
    let tasks = assign(&["--sample", "10", "--to", who]);
    assert_eq!(tasks.len(), 10);
    assert!(tasks.iter().all(|task| task["annotator"] == who));
    assert!(assign(&["--sample", "10", "--to", who]).is_empty(), "the same sample is given once");
    let ballot = ws
        .call(["review", "export", "clean", "--annotator", who, "--format", "jsonl", "--out", "b"])
        .expect(0);
    assert!(ballot.err.contains("10 items"), "{}", ballot.err);
}

#[test]
fn the_real_dumps_ask_which_recipe() {
    let Some(folder) = reference() else { return };
    let ws = Workspace::with("[run]\nrecipes = [\"chumor\"]\n");
    let dump = folder.join("data/raw/leymore/ruozhiba-title-good.json");
    let settings = ws.read("pipeline.toml");
    ws.write(
        "pipeline.toml",
        format!("{settings}\n{}", source("good", "leymore-titles", &dump.display().to_string())),
    );
    ws.call(["run", "--offline", "--to", "dedup"]).expect(0);
    // It is a workspace for Chumor, so the ballot is Chumor's.
    let result = ws.call(["review", "export", "screen", "--format", "jsonl", "--out", "b"]).expect(0);
    assert!(result.out.contains("chumor"), "{}", result.out);
}

#[test]
fn help_of_help_and_of_verbs_is_help() {
    let ws = Workspace::folder();
    for args in
        [&["help", "--help"][..], &["help", "run", "--help"], &["help", "review", "assign"], &["help", "-h"]]
    {
        assert!(ws.call(args).expect(0).out.contains("Usage: "), "{args:?}");
    }
}
