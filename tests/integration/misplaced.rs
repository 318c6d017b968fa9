//! Files where folders belong, folders where files belong, and files of nobody: named with what to do, and nothing else stops.

use std::fs;

use crate::browser::{Browser, Server};
use crate::harness::Workspace;

#[test]
fn a_file_in_the_place_of_a_stage_is_named_and_stops_that_recipe_alone() {
    let ws = Workspace::sample();
    ws.run();
    let place = "staged/flub/02_clean";
    fs::remove_dir_all(ws.path(place)).unwrap();
    ws.write(place, "x");
    let hint = "02_clean is a file in the place of a folder; move it elsewhere";
    assert!(ws.call(["status"]).expect(0).out.contains(hint));
    let run = ws.call(["run"]).expect(4).err;
    assert!(run.contains(hint) && run.contains("chumor: 29 items at the end"), "{run}");
    assert_eq!(ws.read(place), "x");
    ws.remove(place);
    ws.run();

    fs::remove_dir_all(ws.path("output/flub/candidate")).unwrap();
    ws.write("output/flub/candidate", "x");
    for verb in ["status", "report"] {
        ws.call([verb]).expect(0);
    }
    let run = ws.call(["run"]).expect(4).err;
    assert!(run.contains("candidate is a file in the place of a folder; move it elsewhere"), "{run}");
}

#[test]
fn a_file_of_nobody_among_replies_stops_nothing_and_fsck_names_it() {
    let ws = Workspace::sample();
    ws.run();
    ws.write("raw/replies/7.jsonl", "{\"a\": 1}\n");
    for args in [&["status"][..], &["run"], &["explain", "tieba:9900002233"], &["estimate"]] {
        ws.call(args).expect(0);
    }
    let found = ws.call(["fsck"]).expect(1).out;
    assert!(found.contains("7.jsonl: riddlemill did not write it; move it elsewhere"), "{found}");
}

#[test]
fn a_file_of_nobody_among_votes_is_moved_elsewhere_and_gives_none_of_its_lines() {
    let ws = Workspace::sample();
    ws.run();
    let place = ["--recipe", "chumor"];
    let export = ["review", "export", "screen", "--annotator", "annotator-1", "--format", "jsonl"];
    ws.call(export.iter().chain(&place)).expect(0);
    let mut row: serde_json::Value =
        serde_json::from_str(ws.read("chumor.screen.annotator-1.jsonl").lines().next().unwrap()).unwrap();
    row["answers"]["screen"] = "keep".into();
    ws.write("votes.jsonl", format!("{row}\n"));
    ws.call(["review", "import", "screen", "votes.jsonl"].iter().chain(&place)).expect(0);
    let votes = ws.read("raw/votes/000001.jsonl");
    ws.write("raw/votes/7.jsonl", "{\"a\": 1}\n");
    let told = ws.call(["review", "status"].iter().chain(&place)).err;
    assert!(told.contains("hint: move it elsewhere") && !told.contains("backup"), "{told}");
    let salvaged = ws.call(["fsck", "--salvage"]);
    assert!(
        salvaged.out.contains("salvaged raw/votes: 1 line kept, 1 left out"),
        "{}{}",
        salvaged.out,
        salvaged.err
    );
    assert_eq!(ws.read("raw/votes/000001.jsonl"), votes);
    assert!(!ws.exists("raw/votes/7.jsonl") && ws.exists("raw/damaged/001/votes/7.jsonl"));
}

#[test]
fn a_place_in_raw_of_the_other_kind_is_named_with_what_to_do() {
    let ws = Workspace::sample();
    ws.run();
    for log in ["votes", "decisions", "replies"] {
        let place = format!("raw/{log}");
        let aside = format!("aside-{log}");
        let was_there = ws.exists(&place);
        if was_there {
            fs::rename(ws.path(&place), ws.path(&aside)).unwrap();
        }
        ws.write(&place, "x");
        let told = ws.call(["run"]).expect(4).err;
        assert!(
            told.contains(&format!("{place} is a file in the place of a folder; move it elsewhere")),
            "{told}"
        );
        ws.remove(&place);
        if was_there {
            fs::rename(ws.path(&aside), ws.path(&place)).unwrap();
        }
    }
    fs::rename(ws.path("pipeline.toml"), ws.path("aside.toml")).unwrap();
    fs::create_dir(ws.path("pipeline.toml")).unwrap();
    let told = ws.call(["status"]).expect(2).err;
    assert!(told.contains("pipeline.toml is a folder in the place of a file; move it elsewhere"), "{told}");
}

#[test]
fn settings_that_name_what_is_not_there_are_told_and_the_record_is_explained_without_its_pack() {
    let ws = Workspace::sample();
    ws.run();
    let told = ws.call(["status", "--set", "review.gold=raw/knwon"]).expect(0).err;
    assert!(told.contains("(review.gold): \"raw/knwon\" is not a folder"), "{told}");
    let server = Server::start(&ws, &["--set", "review.gold=raw/knwon"]);
    let mut browser = Browser::default();
    for path in ["/", "/run"] {
        assert!(browser.get(&server, path).body.contains("is not a folder"), "{path}");
    }
    browser.get(&server, "/?lang=zh");
    assert!(browser.get(&server, "/run").body.contains("不是文件夹，因此什么也没有读取"));
    drop(server);
    ws.write("raw/known/flub.claen.jsonl", "");
    let told = ws.call(["status", "--set", "review.gold=raw/known"]).expect(0).err;
    assert!(told.contains("did you mean \"flub.clean.jsonl\"?"), "{told}");
    let told = ws.call(["status", "--set", "review.sample=raw/sample/vote.jsonl"]).expect(0).err;
    assert!(told.contains("(review.sample): \"raw/sample/vote.jsonl\" is not a file"), "{told}");
    assert_eq!(ws.call(["status"]).expect(0).err, "");

    let settings = ws.read("pipeline.toml");
    ws.write(
        "pipeline.toml",
        settings.replacen("pack = \"raw/sample/replies.jsonl\"", "pack = \"raw/nope.jsonl\"", 1),
    );
    let explain = ["explain", "tieba:9900002233", "--recipe", "ruozhibench-gen", "--full"];
    let explained = ws.call(explain).expect(0).out;
    assert!(explained.contains("not shown: ") && explained.contains("raw/nope.jsonl"), "{explained}");
}

#[test]
fn a_file_for_the_workspace_and_a_last_stage_before_the_first_are_refused() {
    let ws = Workspace::sample();
    let told = ws.call(["-C", "pipeline.toml", "status"]).expect(2).err;
    assert!(told.contains("pipeline.toml is a file\n  hint: -C takes the folder"), "{told}");
    let told = ws.call(["run", "--recipe", "flub", "--from", "dedup", "--to", "import"]).expect(2).err;
    assert!(
        told.contains("import is made before dedup") && told.contains("exchange --from and --to"),
        "{told}"
    );
}
