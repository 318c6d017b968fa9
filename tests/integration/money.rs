//! The cost of a run: no more than allowed, nothing paid twice, and requests in flight at Ctrl-C are kept.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::generate::{GEN, LOOP, Server, served};
use crate::harness::Workspace;

fn stats(ws: &Workspace) -> Value {
    serde_json::from_str(&ws.call(["replies", "stats", "--json"]).expect(0).out).unwrap()
}

/// A workspace whose endpoint costs a dollar per million input tokens, and two per million output tokens.
fn priced(server: &Server) -> Workspace {
    let ws = served(server);
    let settings = ws.read("pipeline.toml");
    let prices = "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 100 }\n";
    ws.write("pipeline.toml", settings.replace("free = true\n", prices));
    ws
}

fn usd(stats: &Value) -> f64 {
    let models = stats["models"].as_array().unwrap();
    models.iter().map(|model| model["usd"].as_f64().unwrap()).sum()
}

#[test]
fn a_run_may_have_a_cap_of_its_own() {
    let server = Server::start(None);
    let args = ["run", "--yes", "--recipe", GEN].iter().copied().chain(LOOP).collect::<Vec<_>>();
    let ws = priced(&server);
    ws.call(&args).expect(0);
    let (all, whole) = (server.count(), usd(&stats(&ws)));
    server.take();
    assert!(all > 250 && whole > 0.0, "{all} requests, {whole} dollars");

    // A third of the money: the cap is reached in a later stage, so stages share it.
    let ws = priced(&server);
    let cap = format!("run.max_usd={}", whole / 3.0);
    let capped: Vec<&str> = args.iter().copied().chain(["--set", &cap]).collect();
    ws.call(&capped).expect(0);
    let first = server.take();
    let sent: u32 = first.values().sum();
    assert!(first.len() > 1 && first.len() < 5 && sent < all / 2, "{first:?}");
    let spent = stats(&ws);
    assert!(usd(&spent) <= whole / 3.0, "{spent}");
    assert_eq!(spent["replies"], sent);
    assert!(ws.reasons(GEN)["held/budget_reached"] > 0);
    let ledger = ws.call(["show", "translate", "--recipe", GEN, "--reason", "budget_reached"]).expect(0).out;
    let held =
        if ledger.contains("run: ") { ledger } else { ws.call(["report", "--recipe", GEN]).expect(0).out };
    assert!(held.contains("budget"), "{held}");

    // The next run has its own money, and pays for nothing twice.
    ws.call(&capped).expect(0);
    assert!(server.count() > 0);
    let second = server.take();
    assert_eq!(stats(&ws)["replies"], sent + second.values().sum::<u32>());
    assert_eq!(second.get("screen"), None, "{second:?}");
    ws.call(&args).expect(0);
    assert_eq!(stats(&ws)["replies"], all);
    let (had, now) = (whole, usd(&stats(&ws)));
    assert!((had - now).abs() < 1e-9, "{had} and {now}");
}

#[test]
fn what_no_cap_bounds_is_asked_about_before_it_is_sent() {
    let server = Server::start(None);
    let ws = priced(&server);
    let run = |more: &[&str]| {
        let base = ["run", "--recipe", GEN, "--to", "screen", "--set", "draft.endpoint=loop"];
        ws.call(base.iter().chain(more))
    };
    let result = run(&[]).expect(2).err;
    let refused: Vec<&str> = result.lines().skip_while(|line| !line.starts_with("error:")).collect();
    insta::assert_snapshot!("no_consent", refused.join("\n"));
    assert_eq!(server.count(), 0, "nothing was sent");
    // Offline nothing is requested; the stages before it are made.
    run(&["--offline"]).expect(0);
    // Each of the caps suffices.
    run(&["--set", "draft.max_usd=0.01"]).expect(0);
    let some = server.count();
    assert!(some > 0);
    run(&["--set", "run.max_usd=0.005"]).expect(0);
    let more = server.count();
    assert!(more > some && more < 91, "{some} {more}");
    run(&[]).expect(2);
    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", settings.replace("[llm.loop]\n", "[llm.loop]\nmax_usd = 5.0\n"));
    run(&[]).expect(0);
    assert_eq!(server.count(), 91, "every question was asked once");
    ws.write("pipeline.toml", settings);
    // Stored replies cost nothing, and nothing is requested.
    run(&["--force"]).expect(0);
}

#[test]
fn a_terminal_is_asked() {
    if Command::new("script").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no `script` to make a terminal with");
    }
    let server = Server::start(None);
    let ws = priced(&server);
    let line = |answer: &str| {
        format!(
            "echo {answer} | script -qec \"$0 run --recipe {GEN} --to screen --set draft.endpoint=loop\" /dev/null"
        )
    };
    let result = ws.shell(&line("n"));
    assert!(
        result.out.contains("for 91 requests to loop, at most $")
            && result.out.contains(" until this run ends; continue? [y/N]"),
        "{} {}",
        result.out,
        result.err
    );
    assert!(result.out.contains("not agreed, and nothing was sent") && server.count() == 0, "{}", result.out);
    let result = ws.shell(&line("y"));
    assert!(server.count() > 50, "{} {}", result.out, result.err);
}

#[test]
fn ctrl_c_keeps_what_is_in_flight() {
    let server = Server::slow(None, Duration::from_millis(200));
    let ws = served(&server);
    let args = ["run", "--recipe", GEN].iter().copied().chain(LOOP).collect::<Vec<_>>();
    let mut child = ws.start(&args);
    let started = Instant::now();
    while server.count() < 10 {
        assert!(child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let result = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{result}");
    assert!(result.contains("the same command continues"), "{result}");
    let before = server.take();
    let sent = before["screen"];
    assert!(before.len() == 1 && sent < 40, "{before:?}");
    // What was sent was answered and is kept: nothing is requested twice.
    let kept = stats(&ws);
    assert_eq!((&kept["replies"], &kept["open_attempts"]), (&sent.into(), &0.into()), "{kept}");
    ws.call(&args).expect(0);
    let after = server.take();
    assert_eq!(before["screen"] + after["screen"], after["translate"], "{after:?}");
    ws.audit_clean_with(&LOOP);
}

#[test]
fn replies_that_are_gone_are_not_bought_again_without_a_word() {
    let server = Server::start(None);
    let args = ["run", "--yes", "--recipe", GEN].iter().copied().chain(LOOP).collect::<Vec<_>>();
    let ws = priced(&server);
    ws.call(&args).expect(0);
    let bought = stats(&ws)["replies"].as_u64().unwrap();
    server.take();
    let segment = "raw/replies/000001.jsonl.zst";
    let whole = ws.bytes(segment);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for damaged in [Some(&flipped), None] {
        // A lost index loses nothing that was paid for.
        ws.remove(".index");
        match damaged {
            Some(bytes) => ws.write(segment, bytes),
            None => ws.remove(segment),
        }
        for call in [&args[..], &["status", "--recipe", GEN]] {
            let result = ws.call(call).expect(4).err;
            assert!(
                result.contains("000001.jsonl.zst") && result.contains(" replies, asking again"),
                "{result}"
            );
            assert!(result.contains("at most $") && result.contains("--accept-lost-replies"), "{result}");
        }
        assert!(ws.call(["fsck"]).expect(1).out.contains("raw/replies: segment 000001"));
        assert_eq!(server.count(), 0, "nothing was sent");
    }
    // Once restored, nothing is missing and nothing is sent.
    ws.write(segment, &whole);
    ws.call(&args).expect(0);
    assert_eq!((server.count(), stats(&ws)["replies"].as_u64()), (0, Some(bought)));

    // Its intact part is recovered, and only the rest is requested again.
    ws.write(segment, &flipped);
    let result = ws.call(["fsck", "--salvage"]).expect(0).out;
    assert!(result.contains("kept,") && result.contains("damaged at byte"), "{result}");
    assert_eq!(ws.bytes("raw/damaged/001/replies/000001.jsonl.zst"), flipped);
    let kept = stats(&ws)["replies"].as_u64().unwrap();
    assert!(kept > 0 && kept < bought, "{kept} of {bought}");
    ws.call(&args).expect(0);
    assert_eq!(u64::from(server.take().values().sum::<u32>()), bought - kept);
    assert_eq!(stats(&ws)["replies"], bought);

    // The user continues without them.
    ws.remove("raw/replies/000002.jsonl.zst");
    ws.call(&args).expect(4);
    let accepted: Vec<&str> = args.iter().copied().chain(["--accept-lost-replies"]).collect();
    assert!(ws.call(&accepted).expect(0).err.contains("replies lost with"));
    assert!(server.count() > 0);
    assert_eq!(stats(&ws)["replies"], bought);
}
