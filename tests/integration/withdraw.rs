//! Withdrawals: a withdrawn post or dump disappears from stages, candidates and later releases, and its text
//! is shown nowhere; yanked versions say so.

use std::path::Path;

use calamine::Reader;
use riddlemill::stages::withdrawal::Withdrawals;
use riddlemill::store;
use serde_json::Value;

use crate::browser::{Server, coded};
use crate::harness::{Workspace, assert_same, source, title};
use crate::reviewed::{GEN, release};

fn run(ws: &Workspace) {
    ws.call(["run", "--offline", "--recipe", GEN, "--recipe", "flub"]).expect(0);
}

/// Whether any row or ledger of any stage contains a text.
fn occurs(ws: &Workspace, text: &str) -> bool {
    ["import", "clean", "anonymise", "filter", "dedup", "review:screen"].iter().any(|stage| {
        let recipe = ["--recipe", GEN];
        let shown = ws.call(["show", stage, "--json"].iter().chain(&recipe));
        shown.out.contains(text)
    })
}

/// Every cell of a workbook, one row per line.
fn cells(path: &Path) -> String {
    let mut book: calamine::Xlsx<_> = calamine::open_workbook(path).unwrap();
    let mut text = String::new();
    for (_, sheet) in book.worksheets() {
        for row in sheet.rows() {
            text += &row.iter().map(|cell| format!("{cell}\t")).collect::<String>();
            text.push('\n');
        }
    }
    text
}

/// A comparison with a similar set never reveals a released row's text, in either direction.
fn compared(ws: &Workspace, text: &str) {
    let folder = format!("output/{GEN}/1.0.0-draft.1");
    let file = format!("{folder}/data/{GEN}/test.jsonl");
    // A published set in which every text is changed slightly.
    let drifted: String = ws.read(&file).lines().map(|line| line.replace('？', "呢？") + "\n").collect();
    ws.write("published.jsonl", &drifted);
    for set in [&folder, &file] {
        for more in [&[][..], &["--json"]] {
            let result = ws.call(["compare", set, "published.jsonl"].iter().chain(more)).expect(1);
            assert!(
                !result.out.contains(text) && result.err.contains("1 row left out: withdrawn"),
                "{}",
                result.err
            );
        }
    }
    // Nor does a comparison with the unchanged set.
    ws.write("published.jsonl", ws.read(&file));
    let result = ws.call(["compare", &format!("staged/{GEN}/06_screen"), "published.jsonl", "--json"]);
    let actual: Value = serde_json::from_str(&result.out).unwrap();
    assert!(
        !result.out.contains(text) && actual["reference"] == ws.read(&file).lines().count() - 1,
        "{}",
        result.err
    );
}

/// No model is asked about a withdrawn row, no ballot and no table of an evaluation contains it, and the
/// figures say so.
fn evaluated(ws: &Workspace, text: &str) {
    let folder = format!("output/{GEN}/1.0.0-draft.1");
    let file = format!("{folder}/data/{GEN}/test.jsonl");
    let rows = ws.read(&file).lines().count();
    ws.remove("judged");
    for set in [format!("{GEN}@1.0.0-draft.1"), folder.clone(), file] {
        let args = ["evaluate", &set, "--model", "random", "--out", "judged/results", "--offline"];
        let more = ["--write-ballots", "judged/ballots", "--json"];
        let result = ws.call(args.iter().chain(&more));
        let result = result.expect(0);
        let actual: Value = serde_json::from_str(&result.out).unwrap();
        assert_eq!(actual[0]["report"]["items"], rows - 1, "{set}");
        assert_eq!(actual[0]["report"]["withdrawn"], 1, "{set}");
        let word =
            format!("1 row was withdrawn since and is left out; the figures are for the other {}", rows - 1);
        assert!(result.err.contains(&word), "{}", result.err);
        for file in ["report.md", "report.html"] {
            assert!(
                ws.read(&format!("judged/results/{file}")).contains("1 row was withdrawn since"),
                "{file}"
            );
        }
        let shown = ws.shell("cat -- judged/*/* judged/results/*/*").out;
        assert!(!shown.contains(text) && !result.out.contains(text) && shown.len() > 3000, "{set}");
        ws.remove("judged");
    }
}

#[test]
fn a_withdrawn_post_leaves_everything() {
    let ws = Workspace::sample();
    run(&ws);
    release(&ws, &[]).expect(0);
    let row = ws.candidates(GEN).remove(0);
    let (id, text) = (row["source_id"].as_str().unwrap(), row["question_zh"].as_str().unwrap());
    let number = row["id"].as_str().unwrap();
    assert!(occurs(&ws, text));

    ws.call(["withdraw", id]).expect(2);
    let dry = ws.call(["withdraw", id, "--reason", "x", "--dry-run"]).expect(0).out;
    assert!(dry.contains("would be withdrawn") && !ws.exists("raw/withdrawn.jsonl"), "{dry}");
    let result = ws.call(["withdraw", number, "--reason", "its author asked"]).expect(0);
    for word in
        [id, "its bytes: sample-", "released in ruozhibench-gen 1.0.0-draft.1", number, "release yank"]
    {
        assert!(result.out.contains(word), "no {word:?}: {}", result.out);
    }
    let log = ws.read("raw/withdrawn.jsonl");
    assert!(log.contains("its author asked") && !log.contains(id) && !log.contains(text), "{log}");

    // Immediately: its text is shown to nobody.
    for target in [id, number, text] {
        let actual = ws.call(["explain", target]).expect(0).out;
        assert!(
            actual.contains("withdrawn on ") && actual.contains("its author asked"),
            "{target}: {actual}"
        );
        assert!(target == text || !actual.contains(text), "{actual}");
    }
    let hidden = || {
        // A piece of it is not its whole text: a search of the dumps has to omit it.
        let piece: String = text.chars().take(text.chars().count() - 2).collect();
        let actual = ws.call(["explain", &piece, "--json"]);
        assert!(!actual.out.contains(text), "{}", actual.out);
        let server = Server::start(&ws, &[]);
        let page = server.get(&format!("/{GEN}/record/{id}"));
        assert!(page.status == 410 && page.body.contains("was withdrawn") && !page.body.contains(text));
        assert_eq!(server.get(&format!("/find?q={id}")).status, 410);
        let found = server.get(&format!("/find?q={}", coded(&piece)));
        // Once no stage has it, its tombstone is all that is found.
        assert!([200, 410].contains(&found.status) && !found.body.contains(text), "{}", found.body);
        // Nor on a ballot, in a table or in a comparison with another version.
        for form in ["jsonl", "csv", "label-studio", "xlsx"] {
            let args = ["review", "export", "translation", "--recipe", GEN, "--annotator", "annotator-1"];
            ws.call(args.iter().chain(&["--format", form, "--out", "ballots"])).expect(0);
        }
        let ballots: Vec<_> = std::fs::read_dir(ws.path("ballots")).unwrap().map(Result::unwrap).collect();
        assert_eq!(ballots.len(), 5, "Label Studio gets its configuration, too");
        for ballot in ballots {
            let ballot = match ballot.path().extension().unwrap().to_str() {
                Some("xlsx") => cells(&ballot.path()),
                _ => std::fs::read_to_string(ballot.path()).unwrap(),
            };
            assert!(!ballot.contains(text) && ballot.len() > 300, "{ballot}");
        }
        let ballot = server.get(&format!("/review/{GEN}/translation/vote?as=annotator-1&item={}", coded(id)));
        assert!(!ballot.body.contains(text), "{}", ballot.body);
        for folder in [format!("staged/{GEN}/06_screen"), format!("output/{GEN}/1.0.0-draft.1")] {
            ws.call(["export", &folder, "csv", "rows.csv"]).expect(0);
            let rows = ws.read("rows.csv");
            assert!(!rows.contains(text) && rows.lines().count() > 10, "{folder}");
            ws.call(["export", &folder, "xlsx", "rows.xlsx"]).expect(0);
            let rows = cells(&ws.path("rows.xlsx"));
            assert!(!rows.contains(text) && rows.lines().count() > 10, "{folder}");
        }
        compared(&ws, text);
        evaluated(&ws, text);
        let (old, new) = (format!("staged/{GEN}/05_dedup"), format!("output/{GEN}/1.0.0-draft.1"));
        for (a, b) in [(&old, &new), (&new, &old)] {
            assert!(!ws.call(["diff", a, b]).out.contains(text));
        }
        let page = server.get(&format!("/{GEN}/diff?before=1.0.0-draft.1&after=candidate"));
        assert!(page.status == 200 && !page.body.contains(text), "{}", page.body);
    };
    hidden();
    // The candidate that contains it cannot even be a draft.
    let result = release(&ws, &["--draft"]).expect(2);
    assert!(result.err.contains("1 row of the candidate of ruozhibench-gen was withdrawn"), "{}", result.err);
    let result = release(&ws, &[]).expect(2);
    assert!(result.err.contains("import") && result.err.contains("new withdrawal"), "{}", result.err);

    // After the next run no stage contains it.
    run(&ws);
    ws.audit_clean();
    assert!(!occurs(&ws, text));
    hidden();
    assert!(ws.candidates(GEN).iter().all(|row| row["source_id"] != id));
    assert!(ws.reasons(GEN)["dropped/withdrawn"] >= 1);
    let status = ws.call(["status", "--recipe", GEN]).expect(0).out;
    assert!(status.contains(&format!("withdrawn {number}")), "{status}");
    release(&ws, &[]).expect(0);
    let next = ws.read(&format!("output/{GEN}/1.0.0-draft.2/data/{GEN}/test.jsonl"));
    assert!(!next.contains(id) && !next.contains(text));
    let before = ws.derived();
    ws.remove_derived();
    run(&ws);
    assert_same(&before, &ws.derived(), "from raw/ and its tombstones");

    // The bytes that contain it may be deleted, and a check knows why.
    let dump = store::sha256_of_file(&ws.path("raw/sample/dumps/titles.json")).unwrap();
    let withdrawals = Withdrawals::load(&store::Workspace::new(ws.root())).unwrap();
    let manifest = ws.read(&format!("output/{GEN}/candidate/MANIFEST.json"));
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let explained =
        |raw: &&Value| withdrawals.explains_missing_dump(raw["sha256"].as_str().unwrap()).is_some();
    assert!(manifest["raw"].as_array().unwrap().iter().any(|raw| explained(&raw)), "{dump}");

    // A mistake can be undone.
    ws.call(["withdraw", "tieba:5", "--undo", "--reason", "x"]).expect(2);
    ws.call(["withdraw", id, "--undo", "--reason", "another post was meant"]).expect(0);
    run(&ws);
    assert!(ws.candidates(GEN).contains(&row));
    assert_eq!(ws.call(["withdraw", "--list"]).expect(0).out, "nothing is withdrawn\n");
}

#[test]
fn copies_go_too_and_what_is_near_is_named() {
    let ws = Workspace::with(
        &(source("a", "leymore-titles", "raw/dumps/a.json")
            + &source("b", "leymore-titles", "raw/dumps/b.json")),
    );
    let dump =
        |rows: &[(u64, &str)]| rows.iter().map(|(id, text)| title(*id, text) + "\n").collect::<String>();
    ws.write("raw/dumps/a.json", dump(&[(1, "冰块怕热还是怕化？"), (2, "梯子为什么从来不上进？")]));
    ws.write("raw/dumps/b.json", dump(&[(3, "冰块怕热还是怕化?"), (4, "冰块是怕热还是怕化？")]));
    let run = || ws.call(["run", "--recipe", "flub", "--offline", "--to", "dedup"]).expect(0);
    run();
    let result: Value =
        serde_json::from_str(&ws.call(["withdraw", "tieba:1", "--reason", "asked", "--json"]).expect(0).out)
            .unwrap();
    let ids = |list: &str| -> Vec<String> {
        let list = result["concerns"][list].as_array().unwrap();
        list.iter().map(|one| one["id"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(ids("posts"), ["tieba:1", "tieba:3"], "{result}");
    assert_eq!(ids("near"), ["tieba:4"], "{result}");
    // A later dump contains it again, without its id.
    ws.write("raw/dumps/b.json", dump(&[(4, "冰块是怕热还是怕化？"), (9, "冰块怕热 还是怕化？")]));
    run();
    let left = ws.posts("flub");
    let ids: Vec<&str> = left.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["tieba:2", "tieba:4"]);
}

#[test]
fn a_withdrawn_dump_may_be_deleted() {
    let ws = Workspace::with(
        &(source("a", "leymore-titles", "raw/dumps/a.json")
            + &source("b", "leymore-titles", "raw/dumps/b.json")),
    );
    ws.write("raw/dumps/a.json", title(1, "冰块怕热还是怕化？") + "\n");
    ws.write("raw/dumps/b.json", title(2, "梯子为什么从来不上进？") + "\n");
    let run = || ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    run();
    let result = ws.call(["withdraw", "a/nothing.json", "--dump", "--reason", "x"]).expect(2);
    assert!(result.err.contains("there are a/a.json, b/b.json"), "{}", result.err);
    ws.call(["withdraw", "a/a.json", "--dump", "--reason", "its licence ended"]).expect(0);
    run();
    ws.remove("raw/dumps/a.json");
    run();
    ws.audit_clean();
    assert_eq!(ws.posts("flub").len(), 1);
    for target in ["tieba:1", "a/a.json:1"] {
        let actual = ws.call(["explain", target]).expect(0).out;
        assert!(actual.contains("withdrawn on ") && actual.contains("its licence ended"), "{actual}");
    }
    let list = ws.call(["withdraw", "--list"]).expect(0).out;
    assert!(list.contains("the dump a/a.json: its licence ended"), "{list}");
    // Without a tombstone a deleted file is still reported as missing.
    ws.remove("raw/dumps/b.json");
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(2);
}

#[test]
fn a_yanked_version_says_so_wherever_it_lies() {
    let ws = Workspace::sample();
    run(&ws);
    release(&ws, &[]).expect(0);
    let version = "1.0.0-draft.1";
    let place = format!("output/{GEN}/{version}");
    let yank = |version: &str| {
        ws.call(["release", "yank", version, "--reason", "it holds a withdrawn post", "--date", "2026-02-03"])
    };
    assert!(yank("3.0.0").expect(2).err.contains("no recipe has released 3.0.0"));
    let rows = ws.read(&format!("{place}/data/{GEN}/test.jsonl"));
    let result = yank(version).expect(0);
    assert!(result.out.contains("yanked on 2026-02-03"), "{}", result.out);
    assert!(yank(version).expect(2).err.contains("was yanked on 2026-02-03"));
    for file in ["README.md", "YANKED.md", "MANIFEST.json"] {
        assert!(ws.read(&format!("{place}/{file}")).contains("it holds a withdrawn post"), "{file}");
    }
    assert!(ws.read(&format!("raw/releases/{GEN}/registry.jsonl")).contains("\"event\":\"yanked\""));
    assert_eq!(ws.read(&format!("{place}/data/{GEN}/test.jsonl")), rows, "what it holds is not another");
    ws.call(["verify", &place, "--raw"]).expect(0);
    let status = ws.call(["status", "--recipe", GEN]).expect(0).out;
    assert!(status.contains("yanked on 2026-02-03: it holds a withdrawn post"), "{status}");
    let server = Server::start(&ws, &[]);
    assert!(server.get("/releases").body.contains("it holds a withdrawn post"));
    assert!(server.get(&format!("/{GEN}/release/{version}")).body.contains("Yanked"));
    drop(server);
    let before = ws.derived();
    ws.remove("output");
    run(&ws);
    assert_same(&before, &ws.derived(), "given back as yanked");
    // Later versions mention it in their history.
    let fewer: String =
        ws.read("raw/sample/votes.jsonl").lines().skip(40).map(|l| format!("{l}\n")).collect();
    ws.write("raw/sample/votes.jsonl", fewer);
    run(&ws);
    release(&ws, &[]).expect(0);
    let log = ws.read(&format!("output/{GEN}/1.0.0-draft.2/CHANGELOG.md"));
    assert!(log.contains("1.0.0-draft.1 - 2026-01-02 [YANKED]"), "{log}");
}

#[test]
fn until_the_next_run_no_listing_shows_it_either() {
    let ws = Workspace::with(
        &(source("a", "leymore-titles", "raw/dumps/a.json")
            + &source("b", "leymore-titles", "raw/dumps/b.json")),
    );
    let dump =
        |rows: &[(u64, &str)]| rows.iter().map(|(id, text)| title(*id, text) + "\n").collect::<String>();
    let (ice, copy, ladder) =
        ("冰块是不是最怕热也最怕化呀？", "冰块是不是最怕热又最怕化呀？", "梯子为什么从来不上进？");
    ws.write("raw/dumps/a.json", dump(&[(1, ice), (2, ladder), (5, "嗯"), (6, "路灯几点下班？")]));
    ws.write("raw/dumps/b.json", dump(&[(3, copy), (2, ladder), (4, "门铃半夜睡不睡觉？")]));
    let run = || ws.call(["run", "--recipe", "flub", "--offline", "--to", "dedup"]).expect(0);
    run();
    let server = Server::start(&ws, &[]);
    let seen = |text: &str| -> Vec<String> {
        let mut seen = Vec::new();
        for stage in ["import", "clean", "anonymise", "filter", "dedup"] {
            for more in [&["--json"][..], &["--grep", &text[..6]], &["--like", text], &["--borderline"]] {
                let result = ws.call(["show", stage, "--recipe", "flub"].iter().chain(more));
                if result.out.contains(text) {
                    seen.push(format!("show {stage} {more:?}"));
                }
            }
            for query in ["", "?q=%E5%86%B0", "?q=%E6%A2%AF"] {
                for page in ["stage", "figures"] {
                    if server.get(&format!("/flub/{page}/{stage}{query}")).body.contains(text) {
                        seen.push(format!("{page} {stage} {query}"));
                    }
                }
            }
        }
        for query in ["", "?show=pairs&verdict=all"] {
            if server.get(&format!("/flub/duplicates{query}")).body.contains(text) {
                seen.push(format!("duplicates {query}"));
            }
        }
        let report = ws.call(["report", "--recipe", "flub", "--examples", "5"]).expect(0);
        if report.out.contains(text) {
            seen.push("report".into());
        }
        seen
    };
    assert!(seen(ice).len() > 5 && seen(ladder).len() > 5 && !seen("路灯几点下班？").is_empty());
    ws.call(["withdraw", "tieba:1", "--reason", "asked"]).expect(0);
    assert_eq!(seen(ice), [""; 0]);

    // A post in two dumps stays the same if one of them is withdrawn.
    ws.call(["withdraw", "b/b.json", "--dump", "--reason", "asked"]).expect(0);
    let actual = |target: &str| ws.call(["explain", target, "--recipe", "flub"]);
    assert!(!seen(ladder).is_empty());
    assert!(!actual("tieba:2").expect(0).out.contains("withdrawn on"));
    assert_eq!(seen("门铃半夜睡不睡觉？"), [""; 0]);
    assert!(actual("tieba:4").expect(0).out.contains("withdrawn on"));
    assert_eq!(server.get("/flub/record/tieba:4").status, 410);
    assert_eq!(server.get("/flub/record/tieba:2").status, 200);
    // After the run as before it.
    run();
    assert!(!actual("tieba:2").expect(0).out.contains("withdrawn on"));
    assert!(actual("tieba:4").expect(0).out.contains("withdrawn on"));
    ws.call(["withdraw", "a/a.json", "--dump", "--reason", "asked"]).expect(0);
    assert!(actual("tieba:2").expect(0).out.contains("withdrawn on"));
    assert_eq!(seen(ladder), [""; 0]);
}
