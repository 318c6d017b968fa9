//! An endpoint that fails in the same way repeatedly is not asked again, and permanent failures are
//! remembered.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::generate::{GEN, Server, reply_to, served};
use crate::harness::{CallResult, Workspace};

const SCREEN: [&str; 6] = ["run", "--recipe", GEN, "--to", "screen", "--set"];

fn run(ws: &Workspace, more: &[&str]) -> CallResult {
    ws.call(SCREEN.iter().chain(&["draft.endpoint=loop"]).chain(more))
}

/// The lines about causes, and what is printed during the run.
fn actual(result: &CallResult) -> String {
    let mut of_causes = false;
    let lines = result.err.lines().filter(|line| {
        of_causes |= *line == "what waits or failed:";
        of_causes && line.starts_with("  ") || line.contains("is disabled for this run")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn state(ws: &Workspace) -> Value {
    let result = ws.call(["status", "--recipe", GEN, "--json", "--set", "draft.endpoint=loop"]).expect(0);
    let rows: Vec<Value> = serde_json::from_str(&result.out).unwrap();
    rows.into_iter().find(|row| row["stage"] == "screen").unwrap()["state"].clone()
}

#[test]
fn an_endpoint_that_refuses_everybody_is_left_alone() {
    let guard = Arc::new(|_: &str, _: u32| Some((401, "invalid api key")));
    let server = Server::guarded(reply_to, None, Duration::from_millis(20), guard);
    let ws = served(&server);
    let result = run(&ws, &[]).expect(3);
    // One cause, whether a record's request failed or was skipped because of it.
    insta::assert_snapshot!("left_alone", actual(&result));
    let asked = server.count();
    assert!((5..20).contains(&asked), "{asked}");
    let reasons = ws.reasons(GEN);
    assert_eq!(u64::from(asked), reasons["failed/request_failed"], "{reasons:?}");
    assert!(reasons["held/endpoint_left"] > 50, "{reasons:?}");
    // The number of failures is a setting; 0 means never.
    server.take();
    let settings = ws.read("pipeline.toml").replace("max_attempts = 1", "max_attempts = 1, leave_after = 0");
    ws.write("pipeline.toml", settings);
    run(&ws, &[]).expect(3);
    assert_eq!(server.count(), 91);
    ws.audit_clean_with(&["--recipe", GEN, "--set", "draft.endpoint=loop"]);
}

#[test]
fn what_failed_for_good_is_asked_again_when_somebody_wants_it() {
    // Some prompts are refused for their content, some get an unreadable reply.
    fn reply(prompt: &str) -> (&'static str, String) {
        match prompt.contains("雨") {
            true => ("screen", "I would rather not say.".into()),
            false => reply_to(prompt),
        }
    }
    let server = Server::guarded(reply, None, Duration::ZERO, Arc::new(|_, _| None));
    let refusing = Server::guarded(
        reply,
        None,
        Duration::ZERO,
        // Depends on the prompt, not on the time: requests arrive in any order.
        Arc::new(|request, _| {
            (request.contains("鱼") && !request.contains("雨")).then_some((400, "content policy"))
        }),
    );
    let ws = served(&refusing);
    let result = run(&ws, &[]).expect(3);
    insta::assert_snapshot!("failed_for_good", actual(&result));
    let reasons = ws.reasons(GEN);
    let (refused, unreadable) = (reasons["failed/request_refused"], reasons["failed/reply_unparseable"]);
    assert!(refused > 2 && unreadable > 0, "{reasons:?}");
    assert_eq!(state(&ws), "fresh", "nothing can be had by another run");

    // Another run requests nothing, and the stages follow from raw/, also offline.
    refusing.take();
    let before = ws.derived();
    run(&ws, &[]).expect(3);
    ws.remove_derived();
    run(&ws, &["--offline"]).expect(3);
    assert_eq!(refusing.count(), 0);
    crate::harness::assert_same(&before, &ws.derived(), "from raw/");

    // A server that accepts everything: it is only asked for those, and only on request.
    let port = |server: &Server| format!("127.0.0.1:{}/", server.port);
    ws.write("pipeline.toml", ws.read("pipeline.toml").replace(&port(&refusing), &port(&server)));
    run(&ws, &[]).expect(3);
    assert_eq!(server.count(), 0);
    let offline = ws.call(SCREEN.iter().chain(&["draft.endpoint=loop", "--offline", "--retry-failed"]));
    assert_eq!(offline.code, 2, "{}", offline.err);
    run(&ws, &["--retry-failed"]).expect(3);
    // The unreadable ones are requested three times each, as at first.
    assert_eq!(u64::from(server.count()), refused + 3 * unreadable);
    let reasons = ws.reasons(GEN);
    assert!(!reasons.contains_key("failed/request_refused"), "{reasons:?}");
    assert_eq!(reasons["failed/reply_unparseable"], unreadable, "{reasons:?}");
    ws.call(["replies", "verify"]).expect(0);

    // Another prompt is another request.
    let shown = ws.call(["prompts", "show", "ruozhibench/screen"]).expect(0).out;
    ws.write("prompts/ruozhibench/screen.jinja", shown + "\nThink twice.");
    server.take();
    run(&ws, &[]).expect(3);
    assert!(server.count() > 90, "{}", server.count());
}

#[test]
fn another_model_behind_a_name_is_reported() {
    let server = Server::start(None);
    let ws = served(&server);
    let ahead = ["run", "--recipe", GEN].iter().copied().chain(crate::generate::LOOP).collect::<Vec<_>>();
    ws.call(&ahead).expect(0);
    let status = || ws.call(["status", "--recipe", GEN].iter().chain(&crate::generate::LOOP)).expect(0).out;
    assert!(!status().contains("is answered by"), "{}", status());
    let card = || ws.read(&format!("output/{GEN}/candidate/README.md"));
    assert!(!card().contains("answered as"));
    *server.model.lock().unwrap() = "m-other";
    let shown = ws.call(["prompts", "show", "ruozhibench/pair"]).expect(0).out;
    ws.write("prompts/ruozhibench/pair.jinja", shown + "\nBe brief.");
    server.take();
    ws.call(&ahead).expect(0);
    let pairs = server.count();
    let actual = status();
    let line = actual.lines().find(|line| line.starts_with("llm.loop: ")).unwrap();
    assert!(line.contains("\"m\" is answered by m-other since 20"), "{line}");
    assert!(line.contains(&format!("({pairs} replies), before by m (")), "{line}");
    let result = ws.call(["status", "--recipe", GEN, "--json"]).expect(0).out;
    let rows: Vec<Value> = serde_json::from_str(&result).unwrap();
    let origins = rows.iter().find(|row| row["endpoint"] == "loop").unwrap();
    assert_eq!(origins["origins"][1]["model"], "m-other");
}

#[test]
fn an_optional_draft_that_cannot_be_had_leaves_its_stage_fresh() {
    let server = Server::guarded(
        reply_to,
        None,
        Duration::ZERO,
        Arc::new(|_, n| (n % 20 == 3).then_some((422, "too long"))),
    );
    let ws = served(&server);
    let optional = ["--set", "draft.optional=[\"screen\"]"];
    run(&ws, &optional).expect(0);
    assert!(ws.reasons(GEN)["changed/undraftable"] > 2);
    server.take();
    run(&ws, &optional).expect(0);
    assert_eq!(server.count(), 0, "no later run asks for what cannot be had");
}
