//! Prompts of tasks, of their judges and with reasoning, by the language of the row: what models are asked, what the files of
//! eval/ hold, and what is told where a language has no prompt.

use std::time::Duration;

use serde_json::Value;

use crate::generate::Server;
use crate::harness::Workspace;
use crate::own::example;

const NAME: &str = "two-tongues";

const BENCHMARK: &str = r#"about = "riddles in two languages"
steps = ["import", "riddle"]

[step.riddle]
op = "riddle"

[data]
about = "A riddle and two answers."

[data.columns]
id = ["id", "Its name."]
language = ["post.language", "zh | en", "Its language."]
riddle = ["riddle.question", "The riddle."]
options = ["['so', 'not so']", "list of text", "Two answers."]
answer = ["'A'", "The letter of the right one."]

[data.harness]
question = "riddle"
instruction = "Is it so?"
options = "options"
gold = "answer"

[task.solve]
about = "Whether it is so."
prompt = { en = "solve", zh = "solve_zh" }
with = { riddle = "riddle" }
choose = { options = "options", gold = "answer" }

[task.why]
about = "Why it is so."
on_request = true
prompt = { en = "why", zh = "why_zh" }
with = { riddle = "riddle" }
free_text = {}
judge = { prompt = { en = "judge", zh = "judge_zh" }, with = { riddle = "riddle", said = "said" }, scale = [1, 5] }
"#;

const SETTINGS: &str = r#"version = 1
[[source]]
name = "en"
kind = "table"
path = "raw/dumps/en.csv"
fields = { id = "en:{no}", title = "riddle", content = "answer" }
language = "en"
recipes = ["two-tongues"]
[[source]]
name = "zh"
kind = "table"
path = "raw/dumps/zh.csv"
fields = { id = "zh:{no}", title = "riddle", content = "answer" }
language = "zh"
recipes = ["two-tongues"]
"#;

/// What each prompt asks, by its name.
const PROMPTS: [(&str, &str); 8] = [
    ("solve", "Letter of the right one."),
    ("solve_zh", "只回答字母。"),
    ("solve_cot", "Think first."),
    ("solve_zh_cot", "先想一想。"),
    ("why", "Say why."),
    ("why_zh", "说明理由。"),
    ("judge", "Rate it."),
    ("judge_zh", "请评分。"),
];

fn reply(prompt: &str) -> (&'static str, String) {
    let asked = PROMPTS.iter().find(|(_, asks)| prompt.contains(asks));
    let name = asked.map_or("unknown", |(name, _)| name);
    let reply = match name {
        "judge" | "judge_zh" => "[[4]]",
        "why" | "why_zh" => "Because.",
        _ => "A",
    };
    (name, reply.to_owned())
}

fn workspace(benchmark: &str, server: &Server) -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), benchmark);
    for (name, asks) in PROMPTS {
        let said = if name.starts_with("judge") { "\n{{ said | inside(\"said\") }}" } else { "" };
        let text = format!(
            "{{# It asks.\n   output: text #}}\n=== user ===\n{asks}\n{{{{ riddle | inside(\"riddle\") }}}}{said}\n"
        );
        ws.write(&format!("benchmarks/{NAME}/prompts/{name}.jinja"), text);
    }
    ws.write("raw/dumps/en.csv", "no,riddle,answer\n1,Has a bottle a neck?,So.\n2,Has a river a bed?,So.\n");
    ws.write("raw/dumps/zh.csv", "no,riddle,answer\n1,瓶子有脖子吗？,有。\n");
    ws.write("pipeline.toml", SETTINGS.to_owned() + &server.settings());
    ws
}

fn evaluate(ws: &Workspace, more: &[&str]) -> String {
    let args = ["evaluate", NAME, "--model", "loop", "--out", "results", "--yes"];
    ws.call(args.iter().chain(more)).expect(0).err
}

fn items(ws: &Workspace, task: &str) -> Vec<Value> {
    let text = ws.read(&format!("output/{NAME}/candidate/eval/items/two_tongues_{task}.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_row_is_asked_and_judged_in_its_language() {
    let server = Server::replying(reply, None, Duration::ZERO);
    let ws = workspace(BENCHMARK, &server);
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);

    let told = evaluate(&ws, &[]);
    assert!(!told.contains("no prompt is in its language"), "{told}");
    assert_eq!(server.take().into_iter().collect::<Vec<_>>(), [("solve", 2), ("solve_zh", 1)]);
    evaluate(&ws, &["--cot"]);
    let asked: Vec<_> = server.take().into_iter().collect();
    assert_eq!(asked, [("solve_cot", 2), ("solve_zh_cot", 1)], "the others are stored");
    evaluate(&ws, &["--task", &format!("{NAME}/why"), "--judge", "loop"]);
    let asked: Vec<_> = server.take().into_iter().collect();
    assert_eq!(asked, [("judge", 2), ("judge_zh", 1), ("why", 2), ("why_zh", 1)]);
    assert!(!ws.read("results/report.md").contains("no prompt is in"));

    // Other programs ask the same.
    for task in ["solve", "why"] {
        for item in items(&ws, task) {
            let zh = item["id"].as_str().unwrap().starts_with("zh:");
            let prompt = item["prompt"].as_str().unwrap();
            assert_eq!(PROMPTS.iter().position(|(_, asks)| prompt.contains(asks)).unwrap() % 2 == 1, zh);
            if task == "why" {
                let judge = item["judge"][0]["prompt"].as_str().unwrap();
                assert_eq!((judge.contains("请评分。"), judge.contains("Rate it.")), (zh, !zh), "{judge}");
            }
        }
    }
    assert_eq!((items(&ws, "solve").len(), items(&ws, "why").len()), (3, 3));
}

#[test]
fn a_language_without_a_prompt_is_told() {
    let server = Server::replying(reply, None, Duration::ZERO);
    let one = BENCHMARK.replace("{ en = \"solve\", zh = \"solve_zh\" }", "{ en = \"solve\" }");
    let ws = workspace(&one, &server);
    ws.run().expect(0);
    let told = evaluate(&ws, &[]);
    let finding = "1 item of two-tongues/solve: no prompt is in its language, zh: the one for en was asked";
    assert!(told.contains(finding), "{told}");
    assert_eq!(server.take().into_iter().collect::<Vec<_>>(), [("solve", 3)]);
    assert!(ws.read("results/report.md").contains(finding));
    let page = ws.read("results/report.html").replace("&#x2f;", "/");
    assert!(page.contains(finding) && page.contains("没有其语言（zh）的提示词"), "both languages");
}

#[test]
fn mistakes_are_told_with_their_places() {
    let server = Server::replying(reply, None, Duration::ZERO);
    let told = |benchmark: &str| {
        let ws = workspace(benchmark, &server);
        let checked = ws.call(["benchmark", "check"]).expect(2);
        checked.out + &checked.err
    };
    let unknown = told(&BENCHMARK.replace("zh = \"solve_zh\"", "fr = \"solve_zh\""));
    assert!(unknown.contains("unknown key \"fr\"") && unknown.contains("benchmark.toml:"), "{unknown}");
    let prompt = told(&BENCHMARK.replace("zh = \"judge_zh\"", "zh = \"juge_zh\""));
    assert!(prompt.contains("unknown prompt \"juge_zh\"") && prompt.contains("\"judge_zh\""), "{prompt}");
    let column =
        told(&BENCHMARK.replace("language = [\"post.language\", \"zh | en\", \"Its language.\"]\n", ""));
    assert!(
        column.contains("`prompt` goes by the language of a row, and no column of [data] has it"),
        "{column}"
    );
    assert!(column.contains("language = [\"post.language\", \"zh | en | und\""), "{column}");
    // The column may have another name.
    let ws = workspace(
        &BENCHMARK.replace("language = [\"post.language\"", "tongue = [\"post.language\""),
        &server,
    );
    ws.call(["benchmark", "check"]).expect(0);
    // Reasoning in one language alone is a gap.
    let ws = workspace(BENCHMARK, &server);
    ws.remove(&format!("benchmarks/{NAME}/prompts/solve_zh_cot.jinja"));
    let gap = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(
        gap.contains("prompts/solve_zh_cot.jinja is missing") && gap.contains("`reasoned = false`"),
        "{gap}"
    );
}

#[test]
fn the_example_asks_in_both_languages() {
    let ws = example("traps");
    ws.run();
    for who in ["annotator-zh", "annotator-en"] {
        crate::own::vote(
            &ws,
            "traps",
            "fair",
            who,
            |_| serde_json::json!({ "verdict": "accept", "tempting": 4 }),
        );
    }
    ws.run();
    let text = ws.read("output/traps/candidate/eval/items/traps_spot.test.jsonl");
    assert!(text.contains("请只回答它的字母") && text.contains("Answer with its letter"), "{text}");
}
