//! What is advised mends, of votes that differ, options that are too few, posts that are nearly one, and a licence that forbids a
//! release: it is done to the letter, with a person's choice where one is asked for.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;

const NAME: &str = "kinds";

const VOTED: &str = r#"about = "posts and their kinds"
steps = ["import", "review:kind"]

[data]
about = "A post with its kind."
rests_on = ["kind"]

[data.columns]
id = ["id", "Its name."]
text = ["text", "The post."]
kind = ["kind.kind", "pun | logic", "What it is."]
standing = true

[paper]
set = "Kinds"
languages = ["zh"]
"#;

const BALLOTS: &str = r#"[list.kinds]
pun = "A word has two meanings."
logic = "It does not follow."

[ballot.kind]
title = "What kind is it?"
guideline = "Take the first that fits."
voters = ["annotator"]
votes = 2
shows = ["text"]
[ballot.kind.fields]
kind = { label = "Kind", choice = "kinds" }
"#;

const CHOSEN: &str = r#"about = "posts with four answers"
steps = ["import", "options"]

[step.options]
right = "table.right"
wrong = "table.wrong | listed"
number = 4

[data]
about = "A post with four answers."

[data.columns]
id = ["id", "Its name."]
text = ["text", "The post."]
options = ["options.shown", "list of text", "Four answers."]
answer = ["options.right | letter", "The right one."]

[paper]
set = "Kinds"
languages = ["zh"]
"#;

const COMPARED: &str = "about = \"posts\"\nsteps = [\"import\", \"dedup\"]\n";

/// A workspace whose settings are people, a source and further tables.
struct Bench {
    ws: Workspace,
    people: String,
    /// The licence of the source, and of the whole.
    licences: [Option<String>; 2],
}

impl Bench {
    fn new(benchmark: &str, posts: &[(&str, &str)]) -> Bench {
        let ws = Workspace::with("");
        ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), benchmark);
        if benchmark.contains("review:kind") {
            ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
        }
        let mut bench = Bench { ws, people: String::new(), licences: [None, None] };
        bench.dump(posts);
        for who in ["a1", "a2"] {
            bench.person(who, "annotator");
        }
        bench
    }

    /// Posts, each with the lines of its wrong answers.
    fn dump(&self, posts: &[(&str, &str)]) {
        let line = |(no, (text, wrong)): (usize, &(&str, &str))| {
            format!("{}\n", json!({ "no": no, "text": text, "right": "因为它在水里。", "wrong": wrong }))
        };
        self.ws.write("raw/dumps/own.jsonl", (1..).zip(posts).map(line).collect::<String>());
    }

    fn person(&mut self, name: &str, role: &str) {
        let languages = "languages = [\"zh\", \"en\"]";
        let _ = writeln!(self.people, "[[annotator]]\nname = {name:?}\nrole = {role:?}\n{languages}");
    }

    /// Writes the settings, and runs a command that is advised; what it says.
    #[track_caller]
    fn does(&self, command: &str) -> String {
        let [of_source, of_whole] = self.licences.each_ref().map(|licence| {
            licence.as_ref().map(|licence| format!("licence = {licence:?}\n")).unwrap_or_default()
        });
        let source = "[[source]]\nname = \"own\"\nkind = \"table\"\npath = \"raw/dumps/own.jsonl\"\n\
                      fields = { id = \"p:{no}\", title = \"text\" }\ncolumns = { right = \"right\", wrong = \"wrong\" }\n";
        self.ws.write(
            "pipeline.toml",
            format!("{}{source}recipes = [{NAME:?}]\n{of_source}[release]\n{of_whole}", self.people),
        );
        let args: Vec<&str> = command.strip_prefix("riddlemill ").unwrap().split(' ').collect();
        let result = self.ws.call(args).expect(0);
        result.out + &result.err
    }

    #[track_caller]
    fn run(&self) -> String {
        self.does(&format!("riddlemill run --recipe {NAME}"))
    }

    /// The words of what keeps records back, each with what is advised.
    fn causes(&self) -> Vec<(String, String)> {
        let rows: Vec<Value> =
            serde_json::from_str(&self.does(&format!("riddlemill status --recipe {NAME} --json"))).unwrap();
        let causes = rows.iter().filter_map(|row| row["causes"].as_array()).flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        causes.map(|cause| (text(&cause["words"]), text(&cause["mend"]))).collect()
    }

    /// The only advice there is, which `run` gives, too.
    #[track_caller]
    fn advice(&self) -> String {
        let told = self.run();
        let causes = self.causes();
        let [(words, mend)] = &causes[..] else { panic!("{causes:?}") };
        assert!(words.contains(mend) && told.contains(mend), "{mend}: {told}");
        mend.clone()
    }

    /// What `next:` of a run says to do.
    #[track_caller]
    fn next(&self) -> String {
        let told = self.run();
        let next =
            told.lines().find_map(|line| line.strip_prefix("next: ")).unwrap_or_else(|| panic!("{told}"));
        let command = next.split("  (").next().unwrap();
        match told.lines().find_map(|line| line.strip_prefix("first: ")) {
            Some(first) => format!("{first}; then {command}"),
            None => command.to_owned(),
        }
    }
}

#[test]
fn votes_that_differ_wait_for_somebody_who_may_decide_and_for_the_decision() {
    let mut bench = Bench::new(VOTED, &[("为什么鱼不会口渴？", ""), ("雨伞会不会淋湿？", "")]);
    assert_eq!(bench.advice(), format!("riddlemill review assign kind --recipe {NAME}"));
    vote(&bench.ws, NAME, "kind", "a1", |_| json!({ "kind": "pun" }));
    vote(&bench.ws, NAME, "kind", "a2", |_| json!({ "kind": "logic" }));
    let lacks =
        "add an [[annotator]] with role = \"meta\" to pipeline.toml: nobody there may adjudicate kind";
    assert_eq!(bench.advice(), lacks);
    bench.person("m", "meta");
    let advice = bench.advice();
    assert_eq!(advice, format!("riddlemill review adjudicate kind --recipe {NAME}"));
    // It lists the disputes, each with the command that decides it.
    let listed = bench.does(&advice);
    let commands: Vec<&str> =
        listed.lines().filter_map(|line| line.trim().strip_prefix("decide: ")).collect();
    assert_eq!(commands.len(), 2, "{listed}");
    for command in commands {
        assert!(command.contains(" --by m ") && command.matches('…').count() == 2, "{command}");
        bench.does(&command.replace("kind=…", "kind=pun").replace("reason=…", "reason=both"));
    }
    bench.run();
    assert!(bench.causes().is_empty(), "{:?}", bench.causes());
    let kinds: Vec<Value> = bench.ws.candidates(NAME).into_iter().map(|row| row["kind"].clone()).collect();
    assert_eq!(kinds, ["pun", "pun"]);
}

#[test]
fn options_that_are_too_few_say_where_they_come_from() {
    let bench = Bench::new(CHOSEN, &[("为什么鱼不会口渴？", "甲\n乙\n丙"), ("雨伞会不会淋湿？", "丁\n戊")]);
    let advice = bench.advice();
    let words = "add what lacks where `right` and `wrong` of [step.options] take it from, or set another `number` there";
    assert!(advice.starts_with(words), "{advice}");
    let command = advice.split('`').find(|part| part.starts_with("riddlemill ")).unwrap();
    let shown = bench.does(command);
    assert!(shown.contains("p:2") && shown.contains("it has 2 wrong answers, not 3"), "{shown}");
    bench.dump(&[("为什么鱼不会口渴？", "甲\n乙\n丙"), ("雨伞会不会淋湿？", "丁\n戊\n己")]);
    bench.run();
    assert!(bench.causes().is_empty(), "{:?}", bench.causes());
    assert_eq!(bench.ws.candidates(NAME).len(), 2);
}

#[test]
fn posts_that_are_nearly_one_are_decided_as_their_list_says() {
    for (verdict, kept) in [("one", 2), ("two", 3)] {
        let posts = ["为什么天气越冷企鹅越会感冒", "为什么天气越冷企鹅越不会感冒", "门槛算不算门的一部分？"];
        let mut bench = Bench::new(COMPARED, &posts.map(|post| (post, "")));
        bench.person("s", "senior");
        bench.run();
        let list = format!("riddlemill show dedup --borderline --recipe {NAME}");
        let shown = bench.does(&list);
        let command = shown.split('`').find(|part| part.starts_with("riddlemill decide one ")).unwrap();
        let command =
            command.replace("NAME", "s").replace("TEXT", "read").replace(" one ", &format!(" {verdict} "));
        bench.does(&command);
        bench.run();
        let shown = bench.does(&list);
        assert!(!shown.contains("企鹅") && !shown.contains("riddlemill decide"), "{shown}");
        let out = bench.does(&format!("riddlemill show dedup --recipe {NAME} --outcome kept"));
        assert!(out.contains(&format!("{NAME} dedup: {kept} of {kept}")), "{verdict}: {out}");
    }
}

#[test]
fn a_licence_that_forbids_a_release_is_mended_by_what_next_says() {
    let mut bench = Bench::new(VOTED, &[("为什么鱼不会口渴？", ""), ("雨伞会不会淋湿？", "")]);
    bench.run();
    for who in ["a1", "a2"] {
        vote(&bench.ws, NAME, "kind", who, |_| json!({ "kind": "pun" }));
    }
    let run = format!("riddlemill run --recipe {NAME}");
    let release = format!("riddlemill release {NAME}");
    // None, one that its source does not allow, and a source that allows none.
    assert_eq!(
        bench.next(),
        format!("set `licence` under [release] in pipeline.toml, an SPDX identifier; then {run}")
    );
    for (of_source, set) in [("CC-BY-SA-4.0", "CC-BY-SA-4.0"), ("CC-BY-NC-4.0", "CC-BY-NC-4.0")] {
        bench.licences = [Some(of_source.to_owned()), Some("CC-BY-4.0".to_owned())];
        let refused = {
            let advice = bench.next();
            let told = format!("set `licence = \"{set}\"` under [release] in pipeline.toml; then {run}");
            assert_eq!(advice, told);
            bench.ws.call(["release", NAME, "--date", "2026-01-02"]).expect(2).err
        };
        assert!(refused.contains(&format!("set `licence = \"{set}\"` under [release]")), "{refused}");
        bench.licences[1] = Some(set.to_owned());
        assert_eq!(bench.next(), release);
    }
    bench.licences = [Some("CC-BY-ND-4.0".to_owned()), Some("CC-BY-4.0".to_owned())];
    let source = "leave the source out, or state in its [[source]] the licence that its holder gave you";
    assert_eq!(bench.next(), format!("{source}; then {run}"));
    bench.licences[0] = Some("CC-BY-4.0".to_owned());
    assert_eq!(bench.next(), release);
    bench.does(&format!("{release} --date 2026-01-02"));
}
