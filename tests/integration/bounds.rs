//! What servers, and workspaces from elsewhere, can cost at most: money, memory and time.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::generate::GEN;
use crate::harness::{CallResult, Site, Workspace};
use crate::support::Reply;

/// A server that answers with these header lines and this body, and counts its requests.
fn answering(
    head: &'static str,
    body: impl Fn() -> String + Send + Sync + 'static,
) -> (Site, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = count.clone();
    let site = Site::start(move |_| {
        seen.fetch_add(1, Ordering::SeqCst);
        Reply::Plain(200, format!("Content-Type: application/json\r\n{head}"), body().into_bytes())
    });
    (site, count)
}

fn answer(text: &str, usage: &Value) -> String {
    json!({ "choices": [{ "message": { "content": text }, "finish_reason": "stop" }], "usage": usage })
        .to_string()
}

const PRICES: &str = "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\n";

fn asking(site: &Site, more: &str) -> Workspace {
    let ws = Workspace::sample();
    let settings = format!(
        "\n[llm.theirs]\nbase_url = \"http://127.0.0.1:{}/v1\"\nmodel = \"m\"\nsampling = {{ max_tokens = 50 }}\nretries = {{ max_attempts = 1 }}\n{more}\n",
        site.server.port
    );
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &settings);
    ws
}

const RUN: [&str; 8] = ["run", "--yes", "--recipe", GEN, "--to", "screen", "--set", "draft.endpoint=theirs"];

fn run(ws: &Workspace, more: &[&str]) -> CallResult {
    ws.call(RUN.iter().chain(more))
}

fn usd(ws: &Workspace) -> f64 {
    let stats = ws.call(["replies", "stats", "--json"]).expect(0).out;
    let stats: Value = serde_json::from_str(&stats).unwrap();
    stats["models"].as_array().unwrap().iter().map(|model| model["usd"].as_f64().unwrap()).sum()
}

#[test]
fn a_cost_that_cannot_be_breaks_no_store() {
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 9 });
    let much = json!({ "prompt_tokens": 400, "completion_tokens": 9, "cost": 1e7 });
    for (head, usage) in
        [("x-litellm-response-cost: 1e300\r\n", &usage), ("", &much), ("x-response-cost: -3\r\n", &usage)]
    {
        let body = answer("no JSON", usage);
        let (site, count) = answering(head, move || body.clone());
        let ws = asking(&site, PRICES);
        let result = run(&ws, &[]);
        assert!(result.err.contains("states a cost that no request has"), "{}", result.err);
        // The endpoint is left after what was on its way.
        assert!(count.load(Ordering::SeqCst) <= 8, "{}", count.load(Ordering::SeqCst));
        assert!(usd(&ws) < 1.0);
        ws.call(["fsck"]).expect(0);
        ws.call(["estimate", "--recipe", GEN]).expect(0);
        run(&ws, &["--offline"]);
        assert!(usd(&ws) < 1.0);
        // Merged into another workspace it does no harm either.
        let other = Workspace::sample();
        other.call(["raw", "merge", &ws.root().display().to_string()]).expect(0);
        assert!(usd(&other) < 1.0);
        other.call(["fsck"]).expect(0);
    }
}

#[test]
fn a_server_that_bills_more_than_was_reserved_gets_no_more_requests() {
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 90_000 });
    let body = answer(&"x".repeat(50_000), &usage);
    let (site, count) = answering("", move || body.clone());
    let ws = asking(&site, PRICES);
    let result = run(&ws, &[]);
    assert!(result.err.contains("90000 tokens of an answer where 50 were allowed"), "{}", result.err);
    assert!(count.load(Ordering::SeqCst) <= 8, "{}", count.load(Ordering::SeqCst));
    // More than any request can have is charged as the reservation and told: the estimate holds, so it goes on.
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 1_000_000_000 });
    let body = answer("no JSON", &usage);
    let (site, count) = answering("", move || body.clone());
    let ws = asking(&site, PRICES);
    let result = run(&ws, &[]);
    assert!(result.err.contains("counts tokens as no request has them"), "{}", result.err);
    assert!(count.load(Ordering::SeqCst) > 100, "{}", count.load(Ordering::SeqCst));
    assert!(usd(&ws) < 1.0);
    // What a free endpoint says that it costs is told as well.
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 9, "cost": 0.02 });
    let body = answer("no JSON", &usage);
    let (site, count) = answering("", move || body.clone());
    let ws = asking(&site, "free = true");
    let result = run(&ws, &[]);
    assert!(result.err.contains("says free = true; set its prices instead"), "{}", result.err);
    assert!(count.load(Ordering::SeqCst) <= 8);
}

#[test]
fn the_upper_end_of_an_estimate_holds_for_answers_of_any_length() {
    // 20,000 characters for 50 tokens, billed as 50: unreadable, and quoted back in the re-ask.
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 50 });
    let body = answer(&"很长的回答".repeat(4_000), &usage);
    let (site, count) = answering("", move || body.clone());
    let ws = asking(&site, PRICES);
    ws.call(["run", "--offline", "--recipe", GEN, "--to", "dedup"]).expect(0);
    let rows =
        ws.call(["estimate", "--recipe", GEN, "--json", "--set", "draft.endpoint=theirs"]).expect(0).out;
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    let most = rows.iter().find(|row| row["stage"] == "screen").unwrap()["max_usd"].as_f64().unwrap();
    run(&ws, &[]);
    assert!(count.load(Ordering::SeqCst) > 100, "it was asked again");
    let spent = usd(&ws);
    assert!(spent <= most && spent > 0.0, "{spent} of {most}");
}

#[test]
fn a_reply_has_a_longest_size() {
    let usage = json!({ "prompt_tokens": 400, "completion_tokens": 50 });
    let body = answer(&"x".repeat(3 << 20), &usage);
    let (site, count) = answering("", move || body.clone());
    let ws = asking(&site, "free = true");
    let result = run(&ws, &[]).expect(3);
    assert!(
        result.err.contains("of more than 2 MiB") && result.err.contains("max_reply_mib"),
        "{}",
        result.err
    );
    let once = count.load(Ordering::SeqCst);
    // What the message advises mends it.
    ws.write(
        "pipeline.toml",
        ws.read("pipeline.toml").replace("free = true\n", "free = true\nmax_reply_mib = 4\n"),
    );
    let result = run(&ws, &["--retry-failed"]);
    assert!(count.load(Ordering::SeqCst) > once && !result.err.contains("max_reply_mib"), "{}", result.err);
}

#[test]
fn prices_come_from_litellms_list() {
    let (site, _) = answering("", String::new);
    let ws = asking(&site, "price_of = \"gpt-4o-mini\"");
    ws.call(["run", "--offline", "--recipe", GEN, "--to", "dedup"]).expect(0);
    assert_eq!(ws.call(["prices", "list"]).code, 1);
    ws.write("list.json", r#"{"sample_spec": {"input_cost_per_token": 0},
        "gpt-4o-mini": {"input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07, "litellm_provider": "openai"},
        "dall-e-3": {"input_cost_per_pixel": 1e-8}}"#);
    let result = ws.call(["prices", "import", "list.json"]).expect(0).err;
    assert!(
        result.contains("prices of 1 model") && result.contains("llm.theirs has the price of gpt-4o-mini"),
        "{result}"
    );
    let listed = ws.call(["prices", "list", "mini"]).expect(0).out;
    assert!(listed.contains("$0.15 in, $0.6 out") && listed.contains("llm.theirs"), "{listed}");
    let rows =
        ws.call(["estimate", "--recipe", GEN, "--json", "--set", "draft.endpoint=theirs"]).expect(0).out;
    let rows: Vec<Value> = serde_json::from_str(&rows).unwrap();
    let screen = rows.iter().find(|row| row["stage"] == "screen").unwrap();
    let (tokens, min) = (screen["prompt_tokens"].as_f64().unwrap(), screen["min_usd"].as_f64().unwrap());
    assert!((min - tokens * 0.15e-6).abs() < 1e-9, "{screen}");
    ws.write("wrong.json", "[]");
    assert!(ws.call(["prices", "import", "wrong.json"]).expect(2).err.contains("litellm"));
}

#[test]
fn an_estimate_without_an_endpoint_says_what_drafts_need() {
    let ws = Workspace::sample();
    let settings = ws.read("pipeline.toml");
    // Without the sample's own endpoint.
    let without = settings.replace("[llm.sample]", "[llm.unused]");
    assert_ne!(settings, without);
    ws.write("pipeline.toml", without);
    ws.call(["run", "--offline", "--recipe", GEN, "--to", "dedup"]).expect(0);
    let result = ws.call(["estimate", "--recipe", GEN]).expect(0).out;
    assert!(
        result.contains("91 requests")
            && result.contains("tokens in")
            && result.contains("no endpoint is asked"),
        "{result}"
    );
    assert!(result.lines().any(|line| line.trim_start().starts_with("all ")), "{result}");
    assert!(!result.contains(" 0 requests, 0 tokens in, at most 0 out; up to 0 later"), "{result}");
    assert!(
        ws.call(["estimate", "--recipe", GEN, "--model", "gpt-4o-mini"])
            .expect(2)
            .err
            .contains("prices import")
    );
    ws.write(
        "list.json",
        r#"{"gpt-4o-mini": {"input_cost_per_token": 1.5e-07, "output_cost_per_token": 6e-07},
        "gpt-4o": {"input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05}}"#,
    );
    ws.call(["prices", "import", "list.json"]).expect(0);
    let result =
        ws.call(["estimate", "--recipe", GEN, "--model", "gpt-4o-mini", "--model", "gpt-4o"]).expect(0).out;
    assert_eq!(result.matches("; from $").count(), 2, "{result}");
}

#[test]
fn ctrl_c_says_what_it_waits_for_and_offline_work_stops_at_once() {
    let site = Site::start(|_| Reply::Hang(Vec::new()));
    let ws = asking(&site, "free = true\ntimeouts = { first_byte_secs = 4.0, total_secs = 4.0 }");
    ws.call(["run", "--offline", "--recipe", GEN, "--to", "dedup"]).expect(0);
    let mut child = ws.interruptible(RUN);
    let child =
        child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while site.server.asked().len() < 8 {
        assert!(began.elapsed() < Duration::from_secs(60), "{} requests", site.server.asked().len());
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let began = Instant::now();
    let output = child.wait_with_output().unwrap();
    let (said, code, took) = (String::from_utf8_lossy(&output.stderr), output.status.code(), began.elapsed());
    assert_eq!(code, Some(130), "{said}");
    assert!(
        said.contains("waiting for 8 requests in flight, 4 s at most; press Ctrl-C again to abandon them"),
        "{said}"
    );
    assert!(took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn prompts_of_somebody_else_end() {
    let ws = Workspace::sample();
    let shown = ws.call(["prompts", "show", "ruozhibench/screen"]).expect(0).out;
    let doubling = "{% set a = post %}".to_owned() + &"{% set a = a ~ a %}".repeat(60) + "{{ a }}";
    for loops in [
        "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
        &doubling,
        "{% set ns = namespace(x=post) %}{% for a in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    ] {
        ws.write("prompts/ruozhibench/screen.jinja", format!("{shown}\n{loops}\n"));
        let began = Instant::now();
        // With bounded memory: it would not end for want of more.
        let limited = |verb: &str| ws.shell(&format!("ulimit -v 16000000; \"$0\" {verb} --recipe {GEN}"));
        let result = limited("run --offline --to screen");
        assert_eq!(result.code, 2, "{loops}: {} {}", result.out, result.err);
        assert!(result.err.contains("screen"), "{loops}: {}", result.err);
        let result = limited("status");
        assert!((0..=4).contains(&result.code), "{loops}: {} {}", result.code, result.err);
        assert!(began.elapsed() < Duration::from_secs(60), "{loops}: {:?}", began.elapsed());
    }
}
