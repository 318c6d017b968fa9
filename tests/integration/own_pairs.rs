//! A set of pairs by declaration alone: people prefer one of two replies and name a topic of a list, and a model rates each
//! reply.

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::vote;

const NAME: &str = "kind-replies";

const BENCHMARK: &str = r#"about = "pairs of replies to everyday questions, and which one people prefer"
steps = ["import", "anonymise", "review:topic", "quality", "review:better"]

[step.anonymise]
texts = ["table.first", "table.second"]
language = "en"

[step.quality]
kind = "draft"
over = "replies"
called = "it.name"
prompt = "quality"
with = { question = "text", reply = "it.text" }
reply = { json = { rating = { scale = [1, 5] }, because = "text" } }

[fields]
replies = "[{'name': 'first', 'text': table.first}, {'name': 'second', 'text': table.second}]"

[data]
about = "A question, two replies, and which of them people prefer."
rests_on = ["topic", "better"]
labels = ["topic", "preferred", "standing"]
columns = [
  { name = "id", type = "text", is = "id", about = "Its name." },
  { name = "question", type = "text", is = "text", about = "What was asked." },
  { name = "replies", type = "list of text", is = "[table.first, table.second]", about = "Two replies." },
  { name = "topic", type = "text", is = "topic.topic", about = "What it is about." },
  { name = "preferred", type = "integer?", is = "{'first': 0, 'second': 1}[better.better]", about = "The place of the preferred one; null of a tie." },
  { name = "votes", type = "list of integer", is = "[better.tally.better.first, better.tally.better.second, better.tally.better.tie]", about = "How many prefer the first, the second, neither." },
  { name = "ratings", type = "list of number", is = "quality.each | map(attribute='rating') | list", about = "How a model rates the two, 1 to 5." },
  { name = "standing", type = "text", is = "standing", values = ["confirmed", "published", "provisional", "synthetic"], about = "How sure it is." },
]
[data.poses]
question = "question"
instruction = "Choose the better reply."
options = "replies"
gold = "preferred"

[[task]]
name = "better"
about = "Which of two replies people prefer."
prompt = "choose"
when = "preferred is not none"
with = { question = "question", replies = "replies | lettered" }
choose = { options = "replies", gold = "preferred" }

[[compat]]
file = "pairs.jsonl"
lines = true
when = "preferred is not none"
[compat.keys]
prompt = "question"
chosen = "replies[preferred]"
rejected = "replies[1 - preferred]"

[paper]
set = "Kind Replies"
title = "Kind Replies: which answer people prefer"
authors = "nobody"
year = 2026
url = ""
key = "kindreplies2026"
languages = ["en"]
"#;

const BALLOTS: &str = r#"[every]
voters = ["annotator"]
votes = 3

[[list.topics]]
code = "home"
label = "home"
means = "Something in the house."
[[list.topics]]
code = "food"
label = "food"
means = "Something to eat."

[ballot.topic]
title = "What is the question about?"
guideline = "Choose the topic that fits best."
shows = [{ key = "question", is = "text" }]
fields = [{ name = "topic", label = "Topic", kind = "choice", options = "topics" }]

[ballot.better]
title = "Which reply is better?"
guideline = "The better reply helps more and is kinder."
shows = [{ key = "question", is = "text" }, { key = "reply_1", label = "Reply 1" }, { key = "reply_2", label = "Reply 2" }]
compares = { key = "reply", first = "table.first", second = "table.second" }
[[ballot.better.fields]]
name = "better"
label = "Which is better?"
kind = "preference"
sides = ["first", "second"]
tie = { code = "tie", label = "equally good", means = "You would give either." }
rule = "majority"
else = "tie"
"#;

fn kind_replies() -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK);
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS);
    for (name, text) in [
        (
            "quality",
            "{# A rating.\n   output: json #}\nFrom 1 to 5.\n{{ question | inside(\"question\") }}\n{{ reply | inside(\"reply\") }}\nReply with {\"rating\": 3, \"because\": \"...\"}\n",
        ),
        (
            "choose",
            "{# A choice. #}\nAnswer with A or B.\n{{ question | inside(\"question\") }}\n{{ replies | inside(\"options\") }}\n",
        ),
    ] {
        ws.write(&format!("benchmarks/{NAME}/prompts/{name}.jinja"), text);
    }
    ws.write(
        "raw/dumps/replies.csv",
        "no,asked,first,second\n\
         1,How do I stop a door from squeaking?,Put a drop of oil on the hinge.,Buy a new door.\n\
         2,Why does my bread not rise?,Because you are a bad baker.,Try the yeast in warm water first.\n\
         3,How long do I boil an egg?,Seven minutes.,Seven minutes or so.\n",
    );
    let reply = |record: &str, rating: u8| {
        let reply = json!({ "rating": rating, "because": "So." });
        json!({ "template": format!("{NAME}/quality"), "record": record, "reply": reply }).to_string() + "\n"
    };
    let rated = [
        reply("reply:1/first", 5),
        reply("reply:1/second", 2),
        reply("reply:2/first", 1),
        reply("reply:2/second", 4),
        reply("reply:3/first", 3),
        reply("reply:3/second", 3),
    ];
    ws.write("raw/sample/replies.jsonl", rated.concat());
    let annotators = (1..=3).map(|n| {
        format!("[[annotator]]\nname = \"annotator-{n}\"\nrole = \"annotator\"\nlanguages = [\"en\"]\n")
    });
    let settings = "version = 1\n[text]\nlanguage = \"en\"\n[llm.sample]\nprovider = \"sample\"\npack = \"raw/sample/replies.jsonl\"\n\
         [[source]]\nname = \"replies\"\nkind = \"table\"\npath = \"raw/dumps/replies.csv\"\nlicence = \"CC0-1.0\"\n\
         fields = { id = \"reply:{no}\", title = \"asked\" }\ncolumns = { first = \"first\", second = \"second\" }\nrecipes = [\"kind-replies\"]\n";
    ws.write("pipeline.toml", settings.to_owned() + &annotators.collect::<String>());
    ws
}

/// Somebody's preferences on a sheet as it is: 1 and 2 are what it shows.
fn prefer(ws: &Workspace, who: &str) {
    ws.call(["review", "assign", "better"]).expect(0);
    ws.call(["review", "export", "better", "--annotator", who, "--format", "jsonl"]).expect(0);
    let sheet = format!("{NAME}.better.{who}.jsonl");
    let filled = ws.read(&sheet).lines().fold(String::new(), |lines, line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let good =
            |key: &str| ["oil", "yeast"].iter().any(|word| row["see"][key].as_str().unwrap().contains(word));
        let better = match (good("reply_1"), good("reply_2")) {
            (true, _) => "1",
            (_, true) => "2",
            _ => "tie",
        };
        row["answers"]["better"] = better.into();
        format!("{lines}{row}\n")
    });
    ws.write(&sheet, filled);
    ws.call(["review", "import", "better", &ws.path(&sheet).display().to_string()]).expect(0);
}

#[test]
fn people_prefer_one_of_two_texts_of_a_declared_record() {
    let ws = kind_replies();
    ws.call(["benchmark", "check"]).expect(0);
    let tried =
        ["benchmark", "try", NAME, "--post", "Why?", "--column", "first=So.", "--column", "second=Thus."];
    let tried = ws.call(tried).expect(0).out;
    assert!(tried.contains("quality asks a model about second") && tried.contains("reply_2: "), "{tried}");
    ws.run().expect(0);
    let people = ["annotator-1", "annotator-2", "annotator-3"];
    for who in people {
        vote(
            &ws,
            NAME,
            "topic",
            who,
            |see| json!({ "topic": if see["question"].as_str().unwrap().contains("door") { "home" } else { "food" } }),
        );
    }
    ws.run().expect(0);
    for who in people {
        prefer(&ws, who);
    }
    ws.run().expect(0);
    ws.audit_clean();
    let rows = ws.candidates(NAME);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("{id}: {rows:?}"));
    let of = |id: &str| {
        [&row(id)["preferred"], &row(id)["votes"], &row(id)["ratings"], &row(id)["topic"]].map(Value::clone)
    };
    assert_eq!(of("reply:1"), [json!(0), json!([3, 0, 0]), json!([5.0, 2.0]), json!("home")]);
    assert_eq!(of("reply:2"), [json!(1), json!([0, 3, 0]), json!([1.0, 4.0]), json!("food")]);
    assert_eq!(of("reply:3"), [Value::Null, json!([0, 0, 3]), json!([3.0, 3.0]), json!("food")]);
    ws.call(["release", NAME]).expect(0);
    ws.call(["verify", "output/kind-replies/1.0.0", "--raw"]).expect(0);
    let pairs = ws.read("output/kind-replies/1.0.0/compat/pairs.jsonl");
    assert!(pairs.lines().count() == 2 && pairs.contains("\"rejected\":\"Buy a new door.\""), "{pairs}");
    // Nobody named a bias, and none is in the metadata.
    let croissant: Value =
        serde_json::from_str(&ws.read("output/kind-replies/1.0.0/croissant.json")).unwrap();
    let biases = croissant["rai:dataBiases"].as_array().cloned().unwrap_or_default();
    assert!(biases.iter().all(|bias| bias != ""), "{biases:?}");
    ws.call(["evaluate", "kind-replies@1.0.0", "--model", "first-option"]).expect(0);
}

#[test]
fn what_is_wrong_with_a_comparison_is_reported() {
    let ws = kind_replies();
    let wrong = |from: &str, to: &str, part: &str| {
        assert!(BALLOTS.contains(from), "{from}");
        ws.write(&format!("benchmarks/{NAME}/ballots.toml"), BALLOTS.replacen(from, to, 1));
        let result = ws.call(["benchmark", "check"]).expect(2).err;
        assert!(result.contains(part), "{part}: {result}");
    };
    let compares = "compares = { key = \"reply\", first = \"table.first\", second = \"table.second\" }\n";
    wrong(compares, "", "`better` is about two texts: `compares = { key = \"answer\", first = ");
    wrong("sides = [\"first\", \"second\"]", "sides = [\"first\", \"secund\"]", "did you mean \"second\"?");
    wrong(
        compares,
        &format!("{compares}keeps = {{ better = \"said.better\" }}\n"),
        "`keeps` is for records with columns",
    );
}

/// A shown key has its own name where it has no label, and a field may pick from it.
#[test]
fn picks_come_from_a_list_without_a_label() {
    let ws = kind_replies();
    let ballots = BALLOTS.replace(
        "shows = [{ key = \"question\", is = \"text\" }]\nfields = [{ name = \"topic\", label = \"Topic\", kind = \"choice\", options = \"topics\" }]",
        "shows = [{ key = \"topics\", is = \"['home', 'food']\" }]\nfields = [{ name = \"topic\", label = \"Topic\", kind = \"pick\", k = 1, from = \"topics\" }]",
    );
    ws.write(&format!("benchmarks/{NAME}/ballots.toml"), &ballots);
    ws.call(["benchmark", "check"]).expect(0);
    ws.write(
        &format!("benchmarks/{NAME}/ballots.toml"),
        ballots.replace("from = \"topics\"", "from = \"topic\""),
    );
    let result = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(result.contains("picks from an unknown shown key") && result.contains("\"topics\""), "{result}");
}
