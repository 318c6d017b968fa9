//! A post is what its name says, everywhere: ids, places and texts that look alike, posts that import set aside, stages
//! that are of an earlier run.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::browser::{Server, coded};
use crate::harness::{CallResult, Workspace, source, title};

const OWNER: &str = "[[annotator]]\nname = \"owner\"\nrole = \"senior\"\n";

/// A table whose ids look like its places: line 2 has number 1.
fn forum(name: &str) -> String {
    source(name, "table", "raw/dumps/posts.csv")
        + &format!("fields = {{ id = \"{name}:{{no}}\", title = \"title\" }}\n")
        + OWNER
}

const POSTS: &str = "no,title\n1,云会不会恐高呀？\n2,影子会不会嫌我胖？\n3,鱼会不会觉得我们活在天上？\n";

fn run(ws: &Workspace) -> CallResult {
    ws.call(["run", "--recipe", "flub", "--offline", "--to", "dedup"])
}

fn explained(ws: &Workspace, name: &str) -> Value {
    serde_json::from_str(&ws.call(["explain", name, "--recipe", "flub", "--json"]).expect(0).out).unwrap()
}

#[test]
fn an_exact_id_wins_and_the_other_reading_is_told() {
    let ws = Workspace::with(&forum("forum"));
    ws.write("raw/dumps/posts.csv", POSTS);
    run(&ws).expect(0);
    let actual = explained(&ws, "forum:2");
    assert_eq!(actual["explained"][0]["id"], "forum:2", "{actual}");
    assert_eq!(actual["explained"][0]["text"], "影子会不会嫌我胖？");
    assert_eq!(
        actual["other_readings"],
        json!([{ "reading": "place", "what": "line 2 of forum", "record": "forum:1" }])
    );
    let out = ws.call(["explain", "forum:2", "--recipe", "flub"]).expect(0).out;
    assert!(out.contains("forum:2 in flub") && out.contains("also line 2 of forum: forum:1"), "{out}");
    // What is no id is a place, and a place with its file is always one.
    for (name, id) in [("forum:4", "forum:3"), ("forum/posts.csv:2", "forum:1"), ("forum:3", "forum:3")] {
        assert_eq!(explained(&ws, name)["explained"][0]["id"], id, "{name}");
    }
    let by = ["--by", "owner", "--why", "no joke"];
    let result = ws.call(["decide", "drop", "forum:2"].iter().chain(&by)).expect(0);
    assert!(result.out.contains("drop forum:2 at"), "{}", result.out);
    assert!(result.err.contains("also line 2 of forum: forum:1"), "{}", result.err);
    run(&ws).expect(0);
    let ids = |ws: &Workspace| -> Vec<String> {
        ws.posts("flub").iter().map(|post| post["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&ws), ["forum:1", "forum:3"]);
    // The pages read the name alike, and link to what else it could mean.
    let server = Server::start(&ws, &[]);
    let page = server.get("/find?q=forum:2");
    assert_eq!(page.status, 303, "{}", page.body);
    let page = server.get("/flub/record/forum:2?q=forum:2");
    assert!(
        page.body.contains("影子会不会嫌我胖") && page.body.contains("/flub/record/forum:1"),
        "{}",
        page.body
    );
    drop(server);
    let result = ws.call(["withdraw", "forum:3", "--reason", "asked"]).expect(0);
    assert!(
        result.out.contains("forum:3: withdrawn") && result.out.contains("also line 3 of forum: forum:2"),
        "{}",
        result.out
    );
    run(&ws).expect(0);
    assert_eq!(ids(&ws), ["forum:1"]);
}

/// With a source called like the namespace of the ids, nobody's post could be withdrawn by its id.
#[test]
fn a_source_may_be_called_like_a_namespace() {
    let ws = Workspace::with(&source("tieba", "leymore-titles", "raw/dumps/titles.json"));
    let rows = [title(8370518555, "云会不会恐高呀？"), title(7, "影子会不会嫌我胖？")];
    ws.write("raw/dumps/titles.json", format!("[{}]", rows.join(",\n")));
    run(&ws).expect(0);
    let result = ws.call(["withdraw", "tieba:8370518555", "--reason", "its author asked"]).expect(0);
    assert!(result.out.contains("its bytes: tieba/titles.json:1"), "{}", result.out);
    // An id that no dump has yet.
    let result = ws.call(["withdraw", "tieba:9999999999", "--reason", "its author asked"]).expect(0);
    assert!(result.out.contains("in no dump yet"), "{}", result.out);
    run(&ws).expect(0);
    let left = ws.posts("flub");
    assert_eq!(left.len(), 1, "{left:?}");
    let out = ws.call(["explain", "tieba:8370518555"]).expect(0).out;
    assert!(out.contains("withdrawn on") && !out.contains("恐高"), "{out}");
}

/// A thread whose owner numbers jokes, with other people's replies between them.
fn thread() -> String {
    let post = |pid: u64, floor: u64, user: &str, text: &str| {
        json!({ "pid": pid, "tid": 77, "user_name": user, "user_id": 4_000_000 + pid, "text": text,
            "time": 1_700_000_000, "image_links": [], "is_comment": false, "floor": floor })
        .to_string()
            + "\n"
    };
    post(100, 1, "楼主甲", "年度精选")
        + &post(101, 2, "楼主甲", "1.第一把雨伞会不会羡慕晴天？")
        + &post(102, 3, "路人乙", "楼主说得对，鱼在水里")
        + &post(103, 4, "楼主甲", "2.第二把雨伞会不会羡慕晴天？")
}

/// What import set aside is found, shown and withdrawn by its id, its place and its text.
#[test]
fn a_reply_that_import_left_out_is_withdrawn_like_a_post() {
    for name in ["tieba:77:102", "threads:3", "threads/thread.jsonl:3", "楼主说得对，鱼在水里"] {
        let ws = Workspace::with(&source("threads", "thread-dump", "raw/dumps/thread.jsonl"));
        ws.write("raw/dumps/thread.jsonl", thread());
        run(&ws).expect(0);
        let actual = explained(&ws, name);
        assert_eq!(actual["explained"][0]["id"], "threads/thread.jsonl:3", "{name}: {actual}");
        assert_eq!(actual["explained"][0]["text"], "楼主说得对，鱼在水里", "{name}: {actual}");
        let result = ws.call(["withdraw", name, "--reason", "asked"]).expect(0);
        for word in ["tieba:77:102: withdrawn", "its bytes: threads/thread.jsonl:3"] {
            assert!(result.out.contains(word), "{name}: {}", result.out);
        }
        // From now on it is shown nowhere, whatever it is called.
        let server = Server::start(&ws, &[]);
        for other in ["tieba:77:102", "threads:3", "楼主说得对，鱼在水里", "鱼在水里"] {
            let result = ws.call(["explain", other]);
            let told = result.out.replace("楼主说得对，鱼在水里: withdrawn", "");
            assert!(!told.contains("鱼在水里"), "{name}, {other}: {}", result.out);
            assert!(other == "鱼在水里" || result.out.contains("withdrawn on"), "{other}: {}", result.out);
            let page = server.get(&format!("/find?q={}", coded(other)));
            assert!(page.status == 410 || !page.body.contains("楼主说得对"), "{other}: {}", page.body);
        }
        let again = ws.call(["withdraw", name, "--reason", "asked"]).expect(0);
        assert!(again.out.contains("withdrawn already"), "{}", again.out);
        ws.call(["withdraw", "tieba:77:102", "--undo", "--reason", "a mistake"]).expect(0);
        assert_eq!(explained(&ws, "threads:3")["explained"][0]["text"], "楼主说得对，鱼在水里");
    }
}

/// Two posts on one page: each is found as itself.
#[test]
fn a_post_of_a_page_is_not_the_first_one_on_it() {
    let ws = Workspace::with(&source("pages", "riddles-com", "raw/dumps/page.html"));
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/pages/riddles-list.html");
    ws.write("raw/dumps/page.html", std::fs::read(fixture).unwrap());
    ws.call(["run", "--recipe", "brainteaser", "--offline", "--to", "import"]);
    let found = |name: &str| -> Value {
        let result = ws.call(["explain", name, "--recipe", "brainteaser", "--json"]).expect(0);
        serde_json::from_str(&result.out).unwrap()
    };
    let page = found("pages:1");
    let all: Vec<&Value> =
        page["explained"].as_array().unwrap().iter().chain(page["also"].as_array().unwrap()).collect();
    assert!(all.len() > 1, "{page}");
    let mut texts = std::collections::BTreeSet::new();
    for number in 1..=2 {
        let actual = found(&format!("pages/page.html:1#{number}"));
        let record = &actual["explained"][0];
        assert!(texts.insert(record["text"].to_string()), "{actual}");
        let id = record["id"].as_str().unwrap();
        assert_eq!(found(id)["explained"][0]["text"], record["text"], "{id}");
        let by_text = found(record["text"].as_str().unwrap());
        assert_eq!(by_text["explained"][0]["id"], record["id"], "{by_text}");
    }
}

#[test]
fn what_later_stages_have_not_seen_waits_for_them() {
    let ws = Workspace::with(&forum("forum"));
    ws.write("raw/dumps/posts.csv", POSTS);
    run(&ws).expect(0);
    ws.write("raw/dumps/posts.csv", format!("{POSTS}4,梯子为什么从来不上进？\n"));
    ws.call(["run", "--recipe", "flub", "--offline", "--to", "import"]).expect(0);
    let out = ws.call(["explain", "forum:4", "--recipe", "flub"]).expect(0).out;
    assert!(
        out.contains("waiting (clean has not been run since: `riddlemill run --recipe flub`)")
            && !out.contains("left out"),
        "{out}"
    );
    assert!(out.contains("梯子为什么从来不上进"), "{out}");
    let actual = explained(&ws, "forum:4");
    assert_eq!(
        (&actual["explained"][0]["ends"], &actual["explained"][0]["next"]),
        (&json!("in"), &json!("clean"))
    );
    // What the later stages did with the others is of an earlier run, and said to be.
    let out = ws.call(["explain", "forum:1", "--recipe", "flub"]).expect(0).out;
    assert!(out.contains("of an earlier run"), "{out}");
    let server = Server::start(&ws, &[]);
    let page = server.get("/flub/record/forum:4").body;
    assert!(page.contains("has not been run since"), "{page}");
    drop(server);
    run(&ws).expect(0);
    let out = ws.call(["explain", "forum:4", "--recipe", "flub"]).expect(0).out;
    assert!(!out.contains("since") && !out.contains("earlier run"), "{out}");
}

/// Names of sources, ids and texts drawn from so few words that they collide all the time: every post is found by its
/// id, whatever else is called like that, and every other reading that there is is told.
#[test]
fn whatever_collides_an_id_is_its_post() {
    let word = prop::sample::select(vec!["a", "b", "tieba", "text"]);
    let number = 1u64..6;
    let id = (word.clone(), number.clone()).prop_map(|(space, number)| format!("{space}:{number}"));
    let text = prop_oneof![id.clone(), id.clone().prop_map(|id| format!("{id}，云会不会恐高呀？"))];
    let posts = prop::collection::btree_map(id, text, 1..6);
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    runner
        .run(&(word, posts), |(name, posts)| {
            let ws = Workspace::with(
                &(source(name, "table", "raw/dumps/posts.jsonl")
                    + "fields = { id = \"{id}\", content = \"text\" }\n"),
            );
            let lines: Vec<(String, String)> = posts.into_iter().collect();
            let line = |(id, text): &(String, String)| json!({ "id": id, "text": text }).to_string() + "\n";
            ws.write("raw/dumps/posts.jsonl", lines.iter().map(line).collect::<String>());
            ws.call(["run", "--recipe", "flub", "--offline", "--to", "import"]).expect(0);
            for (at, (id, text)) in lines.iter().enumerate() {
                let actual = explained(&ws, id);
                let record = &actual["explained"][0];
                prop_assert_eq!(&record["id"], id.as_str(), "{}", actual);
                prop_assert_eq!(&record["text"], text.as_str(), "{}", actual);
                let others: Vec<&str> = actual["other_readings"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|o| o["record"].as_str().unwrap())
                    .collect();
                let line_of = id.strip_prefix(&format!("{name}:")).and_then(|n| n.parse::<usize>().ok());
                let at_line = line_of.and_then(|n| lines.get(n - 1)).filter(|(other, _)| other != id);
                if let Some((other, _)) = at_line {
                    prop_assert!(others.contains(&other.as_str()), "{} {}", other, actual);
                }
                for (other, _) in lines.iter().filter(|(other, text)| text == id && other != id) {
                    prop_assert!(others.contains(&other.as_str()), "{} {}", other, actual);
                }
                // By its place with the file it is found, too, unless that is the id of another one.
                let place = format!("{name}/posts.jsonl:{}", at + 1);
                prop_assert_eq!(&explained(&ws, &place)["explained"][0]["id"], id.as_str());
            }
            Ok(())
        })
        .unwrap();
}

/// A workspace with an example's files.
fn example(name: &str) -> Workspace {
    let ws = Workspace::folder();
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name).join(".");
    let done = std::process::Command::new("cp").arg("-r").arg(from).arg(ws.root()).status().unwrap();
    assert!(done.success());
    ws.write("raw/salt", crate::harness::SALT);
    ws
}

/// What the set leaves out is not "kept to the end".
#[test]
fn a_record_that_when_leaves_out_is_no_row() {
    let ws = example("joke-kinds");
    let toml = "benchmarks/joke-kinds/benchmark.toml";
    let with = ws.read(toml).replacen(
        "rests_on = [\"kinds\"]",
        "when = \"kinds.rating > 3\"\nrests_on = [\"kinds\"]",
        1,
    );
    ws.write(toml, with);
    ws.call(["run", "--offline"]).expect(0);
    let (mut rows, mut left) = (0, 0);
    for n in 1..=12 {
        let out = ws.call(["explain", &format!("joke:{n}")]).out;
        let rated = ws
            .read("output/joke-kinds/candidate/data/joke-kinds/test.jsonl")
            .contains(&format!("\"joke:{n}\""));
        match rated {
            true => rows += usize::from(out.contains("kept to the end")),
            false if out.contains("review:kinds changed") => {
                left += 1;
                assert!(out.contains("left out (dropped)") && !out.contains("kept to the end"), "{out}");
                assert!(out.contains("[data] when") && out.contains("not_wanted"), "{out}");
                assert!(out.contains("kinds.rating = "), "{out}");
            }
            false => {}
        }
    }
    assert!(rows > 0 && left > 0, "{rows} {left}");
}

const BOTH_BALLOTS: &str = "[ballot.fit]\ntitle = \"Does it fit?\"\nguideline = \"Say so.\"\nvoters = [\"annotator\"]\nvotes = 1\nshows = [{ key = \"joke\", is = \"text\", label = \"Joke\" }]\nfields = [{ name = \"fit\", label = \"Why\", kind = \"text\" }]\n";

/// One record in two recipes has one id: a step that reads both has it once, and says so.
#[test]
fn a_record_of_two_recipes_is_one() {
    let ws = Workspace::with(
        &(source("jokes", "table", "raw/dumps/posts.csv")
            + "fields = { id = \"joke:{no}\", title = \"title\" }\nrecipes = [\"one\", \"two\"]\n"),
    );
    ws.write("raw/dumps/posts.csv", POSTS);
    for name in ["one", "two"] {
        ws.write(
            &format!("benchmarks/{name}/benchmark.toml"),
            "about = \"jokes\"\nsteps = [\"import\", \"clean\", \"anonymise\", \"dedup\"]\n",
        );
    }
    ws.write(
        "benchmarks/zwei/benchmark.toml",
        "about = \"jokes of two\"\nsteps = [\"review:fit\"]\n[step.\"review:fit\"]\nfrom = [\"one/dedup\", \"two/dedup\"]\n",
    );
    ws.write("benchmarks/zwei/ballots.toml", BOTH_BALLOTS);
    ws.call(["run", "--offline", "--recipe", "one", "--recipe", "two", "--recipe", "zwei"]).expect(0);
    assert_eq!(ws.reasons("zwei").get("dropped/same_id"), Some(&3), "{:?}", ws.reasons("zwei"));
    let shown = ws.call(["show", "review:fit", "--recipe", "zwei", "--outcome", "dropped"]).expect(0).out;
    assert!(shown.contains("it came from one/dedup, and two/dedup has it, too"), "{shown}");
    ws.call(["audit", "--recipe", "zwei"]).expect(0);
    let out = ws.call(["explain", "joke:1", "--recipe", "zwei"]).expect(0).out;
    assert!(out.contains("waiting") && out.contains("same_id"), "{out}");
}
