//! An estimate covers all stages that are outdated or missing, and its upper bound is never lower than the
//! actual cost.

use std::time::Duration;

use serde_json::{Value, json};

use crate::generate::{AHEAD, GEN, Server, reply_to, served};
use crate::harness::Workspace;
use crate::reviewed::vote;

/// Replies of which some are readable only the second time, and some never.
fn moody(prompt: &str) -> (&'static str, String) {
    let (what, reply) = reply_to(prompt);
    let mood = prompt.chars().map(|c| c as usize).sum::<usize>() % 11;
    if mood == 0 || mood == 1 && !prompt.contains("could not be read") {
        return (what, String::from("   "));
    }
    (what, reply)
}

fn priced(server: &Server) -> Workspace {
    let ws = served(server);
    let prices = "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 100 }\n";
    let settings = ws.read("pipeline.toml").replace("free = true\n", prices);
    ws.write("pipeline.toml", settings);
    ws
}

fn spent(ws: &Workspace) -> f64 {
    let stats: Value = serde_json::from_str(&ws.call(["replies", "stats", "--json"]).expect(0).out).unwrap();
    stats["models"].as_array().unwrap().iter().map(|model| model["usd"].as_f64().unwrap()).sum()
}

/// The rows of the steps, and the recipe's own.
fn estimate(ws: &Workspace, more: &[&str]) -> (Vec<Value>, Value) {
    let result = ws.call(["estimate", "--recipe", GEN, "--json"].iter().chain(more)).expect(0).out;
    let mut rows: Vec<Value> = serde_json::from_str(&result).unwrap();
    let of_recipe = rows.pop().unwrap();
    (rows, of_recipe)
}

const LOOP: [&str; 2] = ["--set", "draft.endpoint=loop"];

#[test]
fn nothing_is_known_before_an_import_and_nothing_is_made_by_looking() {
    let server = Server::start(None);
    let ws = priced(&server);
    let result = ws.call(["estimate", "--recipe", GEN].iter().chain(&LOOP)).expect(0).out;
    assert!(
        result.contains("not imported yet")
            && result.contains(&format!("riddlemill run --recipe {GEN} --offline --to dedup")),
        "{result}"
    );
    assert!(!ws.exists("staged"));
    ws.call(["run", "--offline", "--recipe", GEN].iter().chain(&LOOP)).expect(0);
    let before = ws.derived();
    let result = ws.call(["estimate", "--recipe", GEN].iter().chain(&LOOP)).expect(0).out;
    insta::assert_snapshot!("estimate", result);
    // With another rule for texts: what would be made is estimated, and nothing of it exists.
    let longer = ["--set", "filter.min_chars=30"];
    let (rows, _) = estimate(&ws, &[LOOP, longer].concat());
    let all = estimate(&ws, &LOOP).0;
    let fewer = |rows: &[Value]| rows[0]["requests"].as_u64().unwrap();
    assert!(fewer(&rows) < fewer(&all) && fewer(&rows) > 0, "{rows:?}");
    crate::harness::assert_same(&before, &ws.derived(), "an estimate");
    assert_eq!(server.count(), 0);
    assert!(
        std::fs::read_dir(ws.path(".index"))
            .unwrap()
            .all(|entry| { !entry.unwrap().file_name().to_string_lossy().starts_with("rehearsal") })
    );
}

#[test]
fn votes_that_no_stage_has_seen_yet_are_counted() {
    let server = Server::start(None);
    let ws = priced(&server);
    ws.call(["run", "--yes", "--recipe", GEN].iter().chain(&LOOP)).expect(0);
    assert_eq!(server.take().len(), 1, "only the first draft: people have not voted");
    for who in ["annotator-1", "annotator-2", "annotator-3"] {
        vote(&ws, "screen", who, |_| Some(json!({ "screen": "keep" })));
    }
    let (rows, of_recipe) = estimate(&ws, &LOOP);
    let translate = rows.iter().find(|row| row["stage"] == "translate").unwrap();
    assert!(translate["requests"].as_u64().unwrap() > 20, "{translate}");
    let before = spent(&ws);
    ws.call(["run", "--yes", "--recipe", GEN].iter().chain(&LOOP)).expect(0);
    let (paid, most) = (spent(&ws) - before, of_recipe["max_usd"].as_f64().unwrap());
    assert!(paid > 0.0 && paid <= most, "{paid} of {most}");
    assert!(paid >= of_recipe["now_min_usd"].as_f64().unwrap() / 2.0, "{paid} {of_recipe}");
}

#[test]
fn the_upper_end_is_never_lower_than_what_is_spent() {
    let server = Server::replying(moody, None, Duration::ZERO);
    let mut random = fastrand::Rng::with_seed(31);
    for round in 0..3 {
        let ws = priced(&server);
        let mut flags: Vec<String> = LOOP.map(String::from).to_vec();
        for step in 0..3 {
            // What may have happened since the last run.
            if step > 0 && random.bool() {
                let share = random.usize(1..6);
                for who in ["annotator-1", "annotator-2", "annotator-3"] {
                    let some =
                        |text: &str| text.len().is_multiple_of(share).then(|| json!({ "screen": "keep" }));
                    vote(&ws, "screen", who, some);
                }
            }
            flags.truncate(2);
            if random.bool() {
                flags.extend(["--set".into(), AHEAD.into()]);
            }
            flags.extend(["--set".into(), format!("filter.min_chars={}", random.u8(4..36))]);
            flags.extend(["--set".into(), format!("draft.max_reasks={}", random.u8(0..3))]);
            if random.u8(0..4) == 0 {
                flags.extend(["--set".into(), "draft.optional=[\"screen\", \"pair\"]".into()]);
            }
            if random.bool() {
                let shown = ws.call(["prompts", "show", "ruozhibench/translate"]).expect(0).out;
                ws.write("prompts/ruozhibench/translate.jinja", format!("{shown}\nVersion {step}."));
            }
            let args: Vec<&str> = flags.iter().map(String::as_str).collect();
            if step == 0 {
                ws.call(["run", "--offline", "--recipe", GEN].iter().chain(&args)).expect(0);
            }
            let (_, of_recipe) = estimate(&ws, &args);
            let most = of_recipe["max_usd"].as_f64().unwrap();
            let before = spent(&ws);
            // Some runs stop half-way.
            let cap = format!("run.max_usd={}", if random.bool() { 0.002 } else { 100.0 });
            let result = ws.call(["run", "--recipe", GEN, "--set", &cap].iter().chain(&args));
            assert!([0, 3].contains(&result.code), "{}", result.err);
            let paid = spent(&ws) - before;
            assert!(
                paid <= most + 1e-12,
                "round {round} {step}: {paid} of {most} with {flags:?}: {of_recipe}"
            );
        }
    }
}
