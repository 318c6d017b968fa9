//! The same input gives the same bytes, however a run went.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::harness::{RECIPES, Workspace, assert_same};

#[test]
fn all_that_is_derived_can_be_derived_again() {
    let ws = Workspace::sample();
    ws.run();
    let first = ws.derived();
    ws.remove_derived();
    ws.run();
    assert_same(&first, &ws.derived(), "after rm -rf staged output");
}

#[test]
fn threads_places_and_the_order_of_sources_do_not_show() {
    let ws = Workspace::sample();
    ws.call(["run", "--threads", "1"]).expect(0);
    let first = ws.derived();

    let other = Workspace::sample();
    let text = other.read("pipeline.toml");
    let start = text.find("[[source]]\n").unwrap();
    let end = text.find("\n# Drafts come from").unwrap();
    let mut tables: Vec<&str> = text[start..end].split("\n\n").map(str::trim).collect();
    assert!(tables.len() >= 3);
    tables.reverse();
    let turned = format!("{}{}\n{}", &text[..start], tables.join("\n\n"), &text[end..]);
    assert!(turned.find("sample-thread").unwrap() < turned.find("sample-titles").unwrap());
    other.write("pipeline.toml", turned);
    other.call(["run", "--threads", "3"]).expect(0);
    assert_same(&first, &other.derived(), "three threads, another folder, sources turned round");
}

/// Numbers that look random and are the same every time, 0 to 1.
fn chances() -> impl Iterator<Item = f64> {
    let mut random = fastrand::Rng::with_seed(7);
    std::iter::repeat_with(move || random.f64())
}

#[test]
fn thirty_killed_runs_leave_no_trace() {
    let ws = Workspace::sample();
    ws.run();
    let want = ws.derived();
    ws.remove_derived();
    let start = Instant::now();
    ws.run();
    let whole = start.elapsed();

    let mut cut = 0;
    for (i, chance) in chances().take(30).enumerate() {
        // From nothing, over a whole one, and on from where the last one was killed.
        match i % 3 {
            0 => ws.remove_derived(),
            1 => drop(ws.run()),
            _ => {}
        }
        let args: &[&str] = if i % 3 == 1 { &["run", "--offline", "--force"] } else { &["run", "--offline"] };
        let mut child = ws.start(args);
        sleep(Duration::from_secs_f64(whole.as_secs_f64() * chance));
        cut += i32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        if i % 3 == 2 {
            ws.run();
            assert_same(&want, &ws.derived(), &format!("after kill {i}"));
        }
    }
    ws.run();
    assert_same(&want, &ws.derived(), "after 30 kills");
    ws.audit_clean();
    assert!(cut >= 10, "only {cut} of 30 runs were still at work when they were killed");
}

#[test]
fn two_at_once_do_not_meet() {
    let ws = Workspace::sample();
    ws.run();
    let want = ws.derived();
    ws.remove_derived();
    let runs: Vec<_> = (0..3).map(|_| ws.start(["run", "--offline"])).collect();
    let codes: Vec<i32> =
        runs.into_iter().map(|run| run.wait_with_output().unwrap().status.code().unwrap_or(-1)).collect();
    assert!(codes.iter().all(|code| [0, 5].contains(code)), "{codes:?}");
    ws.run();
    assert_same(&want, &ws.derived(), "after three runs at once");
    ws.audit_clean();
    for recipe in RECIPES {
        assert!(ws.exists(&format!("output/{recipe}/candidate/SHA256SUMS")));
    }
}
