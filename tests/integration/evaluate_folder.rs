//! Evaluation asks what the workspace's folders say: their tasks and prompts, models by lists and patterns, samples in
//! proportion, sheets of rating tasks, results of other workspaces; and what a later step lacks is told first.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::generate::Server;
use crate::harness::Workspace;
use crate::own::{TWISTERS, example};

/// Rows of the example as a release has them.
fn twisters(ws: &Workspace) {
    let row = |at: usize| {
        json!({
            "id": format!("BT-{at}"), "riddle": format!("What has {at} necks?"), "options": ["A bottle.", "A shirt.", "A swan.", "A road."],
            "answer": "A", "hint": "It is made of glass.", "source_id": format!("riddle:{at}"), "standing": "confirmed",
        })
    };
    ws.write("rows.jsonl", (1..=40).map(|at| format!("{}\n", row(at))).collect::<String>());
}

fn read(ws: &Workspace, path: &str) -> Value {
    serde_json::from_str(&ws.read(path)).unwrap()
}

fn lines(ws: &Workspace, path: &str) -> Vec<Value> {
    ws.read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The verbs, with the verbs within them.
fn verbs(ws: &Workspace, above: &[String]) -> Vec<Vec<String>> {
    let args = above.iter().map(String::as_str).chain(["--help"]);
    let help = ws.call(args).expect(0).out;
    // At the top they are grouped by what they are for.
    let commands = help.lines().skip_while(|line| !["Commands:", "Begin:"].contains(&line.trim())).skip(1);
    let commands =
        commands.take_while(|line| !["Options", "Arguments"].iter().any(|end| line.starts_with(end)));
    let names = commands.filter(|line| line.starts_with("  ") && !line.starts_with("    "));
    let mut all = Vec::new();
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        // These run until they are stopped, or know no workspace.
        if ["help", "serve", "man", "completions", "init"].contains(&name) {
            continue;
        }
        let verb: Vec<String> = above.iter().cloned().chain([name.to_owned()]).collect();
        let within = verbs(ws, &verb);
        match within.is_empty() {
            true => all.push(verb),
            false => all.extend(within),
        }
    }
    all
}

/// The flags of a verb that take a value, and whether it has `--recipe`.
fn flags(ws: &Workspace, verb: &[String]) -> (BTreeSet<String>, bool) {
    let help = ws.call(verb.iter().map(String::as_str).chain(["--help"])).expect(0).out;
    let line = |line: &str| {
        let line = line.trim_start();
        let flag = line.split_once("--").filter(|(before, _)| before.len() <= 4)?.1;
        let (name, rest) = flag.split_once(' ')?;
        (rest.trim_start().starts_with('<') || name.contains('<'))
            .then(|| format!("--{}", name.split(['=', '<', '[']).next().unwrap_or_default()))
    };
    (help.lines().filter_map(line).collect(), help.contains("--recipe"))
}

/// The list of benchmarks was filled while `--task` was parsed, before the workspace was read.
#[test]
fn every_verb_with_each_flag_knows_the_benchmark_of_its_workspace() {
    let ws = example(TWISTERS);
    let all = verbs(&ws, &[]);
    assert!(all.len() > 30, "{all:?}");
    let mut tried = 0;
    for verb in all {
        let (flags, of_recipe) = flags(&ws, &verb);
        // One call with all flags would end at the first that excludes another.
        for flag in flags
            .iter()
            .filter(|flag| !["--workspace", "--recipe", "--set", "--trust"].contains(&flag.as_str()))
        {
            let mut command = ws.command(verb.iter().map(String::as_str));
            // The name of a built-in task is accepted, whatever was read.
            command.args([flag.as_str(), if flag == "--task" { "select" } else { "1" }]);
            if of_recipe {
                command.args(["--recipe", TWISTERS]);
            } else if ["evaluate", "release", "export", "diff", "withdraw"].contains(&verb[0].as_str()) {
                command.arg(TWISTERS);
            }
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            let begun = Instant::now();
            while child.try_wait().unwrap().is_none() {
                if begun.elapsed() > Duration::from_secs(20) {
                    child.kill().unwrap();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            let err = child.wait_with_output().unwrap().stderr;
            let err = String::from_utf8_lossy(&err);
            for what in ["unknown recipe", "unknown benchmark"] {
                assert!(!err.contains(&format!("{what} {TWISTERS:?}")), "{verb:?} {flag}: {err}");
            }
            assert!(!err.contains("is not a folder, a file or a recipe"), "{verb:?} {flag}: {err}");
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}

#[test]
fn a_task_of_the_workspace_is_named_listed_and_matched() {
    let ws = example(TWISTERS);
    twisters(&ws);
    let tasks = |more: &[&str]| -> BTreeSet<String> {
        ws.call(
            ["evaluate", "rows.jsonl", "--model", "first-option,random", "--out", "results"]
                .iter()
                .chain(more),
        )
        .expect(0);
        let answers = lines(&ws, "results/answers.jsonl");
        answers.iter().map(|answer| answer["task"].as_str().unwrap().to_owned()).collect()
    };
    let [solve, hint] = ["brain-twisters/solve", "brain-twisters/solve-with-hint"];
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(tasks(&["--task", solve]), set(&[solve]));
    assert_eq!(tasks(&["--task", "brain-twisters/*"]), set(&[solve, hint]));
    assert_eq!(tasks(&["--task", &format!("{solve},{hint}")]), set(&[solve, hint]));
    let wrong = ws.call(["evaluate", "rows.jsonl", "--model", "random", "--task", "select"]).expect(2).err;
    assert!(wrong.contains("select is no task of") && wrong.contains(solve), "{wrong}");
    let wrong = ws.call(["evaluate", "rows.jsonl", "--model", "qwen-*"]).expect(2).err;
    assert!(wrong.contains("--model \"qwen-*\" matches nothing"), "{wrong}");

    let board = read(&ws, "results/evaluation.json");
    let tables = board["tables"].as_array().unwrap();
    let leader = tables.iter().find(|table| table["name"] == "leaderboard").unwrap();
    let first = &leader["rows"][0];
    assert_eq!((&first["name"], &first["cells"][0]["value"]), (&json!("first-option"), &json!(1.0)));
    assert_eq!(first["cells"][0]["n"], 40);
    let pair = &board["comparisons"][0];
    assert_eq!(pair["test"], "McNemar");
    assert!(pair["holm_p"].as_f64().unwrap() >= pair["test_p"].as_f64().unwrap());
}

/// Reads the letter that is asked for only if the prompt of the workspace was sent.
fn marked(prompt: &str) -> (&'static str, String) {
    ("select", if prompt.contains("BY THE WORKSPACE") { "A".into() } else { "Hard to say".into() })
}

#[test]
fn an_edited_prompt_of_a_built_in_benchmark_is_sent_with_a_task_named() {
    let ws = Workspace::sample();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/benchmarks/flub");
    for folder in ["", "prompts/"] {
        for entry in
            fs::read_dir(from.join(folder)).unwrap().map(Result::unwrap).filter(|e| e.path().is_file())
        {
            let name = entry.file_name().into_string().unwrap();
            ws.write(&format!("benchmarks/flub/{folder}{name}"), fs::read(entry.path()).unwrap());
        }
    }
    let prompt = "benchmarks/flub/prompts/choose.jinja";
    ws.write(prompt, ws.read(prompt) + "BY THE WORKSPACE\n");
    let server = Server::replying(marked, None, Duration::ZERO);
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &server.settings());
    ws.call(["run", "--offline", "--recipe", "flub"]).expect(0);
    ws.call(["evaluate", "flub", "--model", "loop", "--task", "select", "--out", "results", "--yes"])
        .expect(0);
    let answers = lines(&ws, "results/answers.jsonl");
    assert!(!answers.is_empty());
    assert!(answers.iter().all(|answer| answer["text"] == "A"), "{}", answers[0]);
}

#[test]
fn a_sample_keeps_the_proportions_of_a_column_and_says_of_how_many() {
    let ws = example(TWISTERS);
    twisters(&ws);
    let rows: String = ws
        .read("rows.jsonl")
        .lines()
        .enumerate()
        .map(|(at, line)| match at % 4 {
            0 => line.replace("confirmed", "provisional") + "\n",
            _ => line.to_owned() + "\n",
        })
        .collect();
    ws.write("rows.jsonl", rows);
    let call = |column: &str| {
        let args = ["evaluate", "rows.jsonl", "--model", "random", "--out", "results", "--limit", "20"];
        ws.call(args.into_iter().chain(["--strata", column]))
    };
    let result = call("standing").expect(0);
    let text =
        "A sample of 20 of 40 items, in proportion by standing: confirmed 15 of 30, provisional 5 of 10";
    assert!(result.err.contains(text), "{}", result.err);
    assert!(ws.read("results/report.md").contains(text));
    assert_eq!(read(&ws, "results/evaluation.json")["sample"]["of"], 40);
    let wrong = call("standard").expect(2).err;
    assert!(wrong.contains("unknown column \"standard\"") && wrong.contains("standing"), "{wrong}");
    // Without a limit there is nothing to divide.
    ws.call(["evaluate", "rows.jsonl", "--model", "random", "--strata", "standing"]).expect(2);
}

#[test]
fn one_call_asks_a_matrix_with_one_estimate_and_goes_on_where_it_stopped() {
    let ws = example(TWISTERS);
    twisters(&ws);
    let server = Server::replying(|_| ("solve", "A".into()), None, Duration::ZERO);
    let one = server.settings().replace(
        "free = true\n",
        "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 10 }\n",
    );
    let two = one.replace("[llm.loop]", "[llm.loop-2]").replace("model = \"m\"", "model = \"n\"");
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &one + &two);
    let call = |more: &[&str]| {
        ws.call(["evaluate", "rows.jsonl", "--model", "loop*", "--out", "results"].iter().chain(more))
    };
    let estimate = call(&["--dry-run"]).expect(0).out;
    assert!(estimate.contains("all together: 160 requests, at most "), "{estimate}");
    assert_eq!(server.count(), 0);
    let rows: Vec<Value> = serde_json::from_str(&call(&["--dry-run", "--json"]).expect(0).out).unwrap();
    let least: f64 = rows.iter().map(|row| row["min_usd"].as_f64().unwrap()).sum();
    let result = call(&["--max-usd", &(least / 2.0).to_string()]).expect(0);
    let some = server.count();
    assert!(some > 0 && some < 160, "{some}");
    assert!(result.err.contains("the same call asks for them alone"), "{}", result.err);
    call(&["--yes"]).expect(0);
    assert_eq!(server.count(), 160, "the rest, and nothing twice");
}

#[test]
fn results_of_two_workspaces_are_joined_and_two_runs_compared() {
    let [here, there] = [example(TWISTERS), example(TWISTERS)];
    [&here, &there].into_iter().for_each(twisters);
    there.call(["evaluate", "rows.jsonl", "--model", "random", "--seed", "2", "--out", "results"]).expect(0);
    let theirs = there.path("results").display().to_string();
    let call = |model: &str, join: &[&str]| {
        let args = ["evaluate", "rows.jsonl", "--out", "joined", "--model", model, "--join"];
        here.call(args.iter().chain(join))
    };
    call("first-option", &[&theirs]).expect(0);
    let authors = || -> BTreeSet<String> {
        let answers = lines(&here, "joined/answers.jsonl");
        answers.iter().map(|answer| answer["model"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(authors(), ["first-option", "random"].map(str::to_owned).into());
    // The random model of another seed answers otherwise: that is said, and a name keeps both.
    let clash = call("random", &[&theirs]).expect(3);
    assert!(clash.err.contains("NAME=FOLDER puts a name"), "{}", clash.err);
    call("random", &[&format!("before={theirs}")]).expect(0);
    assert_eq!(authors(), ["before/random", "random"].map(str::to_owned).into());
    let results = here.path("joined").display().to_string();
    here.call([
        "evaluate",
        "rows.jsonl",
        "--out",
        "alone",
        "--join",
        &format!("a={results}"),
        &format!("b={theirs}"),
    ])
    .expect(0);
    assert!(here.read("alone/tables/models.csv").contains("b/random"));
    // Other rows are told before anything is asked.
    there.write("rows.jsonl", there.read("rows.jsonl").replace("necks", "legs"));
    there.call(["evaluate", "rows.jsonl", "--model", "random", "--out", "results"]).expect(0);
    let wrong = call("first-option", &[&theirs]).expect(2).err;
    assert!(wrong.contains("whose rows are not those of"), "{wrong}");
    let wrong = call("first-option", &["no-such-folder"]).expect(2).err;
    assert!(wrong.contains("name a results folder"), "{wrong}");
}

#[test]
fn a_rating_task_has_its_own_sheet_and_rubric() {
    let ws = example("joke-kinds");
    let row = |at: usize| {
        json!({
            "id": format!("JK-{at}"), "joke": format!("第{at}个笑话。"), "kinds": ["pun"], "kind_votes": [3, 0, 0, 0, 0, 0, 0, 0],
            "rating": 3.5, "rating_votes": [0, 0, 1, 2, 0], "source_id": format!("post:{at}"), "standing": "confirmed",
        })
    };
    ws.write("rows.jsonl", (1..=3).map(|at| format!("{}\n", row(at))).collect::<String>());
    ws.call(["evaluate", "rows.jsonl", "--model", "random", "--write-ballots", "sheets"]).expect(0);
    let guidelines = ws.read("sheets/guidelines.md");
    assert!(guidelines.contains("## rate-rating.csv (1 to 5)\nHow funny it is, from 1 to 5"), "{guidelines}");
    assert!(guidelines.contains("## classify.csv"), "{guidelines}");
    for other in ["choose.csv", "prefer.csv", "score.csv", "absurd or funny", "brain teaser"] {
        assert!(!guidelines.contains(other), "{other}: {guidelines}");
    }
    assert!(!ws.exists("sheets/choose.csv"));
    let sheet = ws.read("sheets/rate-rating.csv");
    let mut reader = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
    let votes = reader.records().map(Result::unwrap);
    let votes: String =
        votes.map(|row| format!("{}\n", json!({ "ballot": &row[0], "answer": "4" }))).collect();
    ws.write("votes.jsonl", votes);
    ws.call([
        "evaluate",
        "rows.jsonl",
        "--model",
        "random",
        "--out",
        "results",
        "--ballots",
        "me=votes.jsonl",
    ])
    .expect(0);
    let people = lines(&ws, "results/answers.jsonl").into_iter().filter(|answer| answer["person"] == true);
    assert_eq!(people.filter(|answer| answer["task"] == "joke-kinds/rating").count(), 3);
}

#[test]
fn a_missing_wordnet_is_told_before_people_vote() {
    let ws = Workspace::sample();
    let nowhere = ["--set", "puzzles.wordnet=nowhere"];
    let call = |args: &[&str]| ws.call(args.iter().chain(&nowhere)).expect(0);
    let run = call(&["run", "--offline", "--recipe", "brainteaser", "--to", "import"]);
    assert!(
        run.err.contains("warning: brainteaser word-neighbours, a later step: puzzles.wordnet: "),
        "{}",
        run.err
    );
    assert!(run.err.contains("hint: Debian's wordnet-base"), "{}", run.err);
    let status = call(&["status", "--recipe", "brainteaser"]);
    assert!(status.out.contains("lacks") && status.out.contains("nowhere is not a folder"), "{}", status.out);
    let check = call(&["benchmark", "check", "brainteaser"]);
    assert!(check.out.contains("warning: brainteaser word-neighbours: puzzles.wordnet"), "{}", check.out);
    // With what it names nothing is said.
    let run = ws.call(["run", "--offline", "--recipe", "brainteaser", "--to", "import"]).expect(0);
    assert!(!run.err.contains("a later step"), "{}", run.err);
}
