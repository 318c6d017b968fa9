//! Settings as they are declared: what is wrong names its key, place and bounds, and editors are told the same.

use serde_json::{Value, json};

use crate::harness::Workspace;

/// What is said about an endpoint with this line.
fn said(line: &str) -> String {
    Workspace::with(&format!("[llm.mine]\n{line}\n")).call(["config"]).expect(2).err
}

#[test]
fn a_value_of_an_endpoint_is_refused_with_its_key_place_and_bounds() {
    for (line, expected) in [
        ("rpm = 5000000000", "2:7: rpm: expected a whole number from 1 to 4294967295"),
        ("rpm = 99999999999999999999", "2:7: rpm: integer number overflowed"),
        (
            "retries.leave_after = 5000000000",
            "2:23: retries.leave_after: expected a whole number from 0 to 4294967295",
        ),
        ("max_usd = -1", "2:11: max_usd: expected a number of at least 0"),
        ("provider = \"opnai\"", "2:12: provider: expected one of openai, azure"),
        ("provider = \"opnai\"", "; did you mean \"openai\"?"),
        ("sampling = 5", "2:12: sampling: expected a table with some of temperature"),
        (
            "timeouts = { conect_secs = 1 }",
            "2:14: unknown key \"conect_secs\"\n  hint: did you mean \"connect_secs\"?",
        ),
        ("headers = { a = 1 }", "2:11: headers: expected a table of texts"),
        ("format = \"jsn\"", "2:10: format: expected one of text, json_object"),
        ("model = 5", "2:9: model: expected a text in quotes"),
        ("colour = 1", "2:1: unknown key \"colour\"\n  hint: valid here: api, api_version, base_url"),
        // It is the table's own.
        (
            "name = \"other\"",
            "2:1: unknown key \"name\"\n  hint: its name is the one in [llm.mine]; leave this line out",
        ),
        ("temperature = 0.7", "2:1: unknown key \"temperature\"\n  hint: it is a key of `sampling`"),
        (
            "sampling = { model = \"m\" }",
            "2:14: unknown key \"model\"\n  hint: it belongs to the table above",
        ),
    ] {
        let met = said(line);
        assert!(
            met.contains(&format!("pipeline.toml:{expected}"))
                || met.contains(expected) && expected.starts_with(';'),
            "{line}: {met}"
        );
    }
    // The same for one call.
    let ws = Workspace::with("[llm.mine]\nmodel = \"m\"\nfree = true\n");
    let met = ws.call(["config", "--set", "llm.mine.rpm=5000000000"]).expect(2).err;
    assert!(met.contains("expected a whole number from 1 to 4294967295, not \"5000000000\""), "{met}");
    ws.call(["config", "--set", "llm.mine.sampling.extra.top_k=5", "--set", "llm.mine.provider=vllm"])
        .expect(0);
}

#[test]
fn every_problem_of_an_annotator_and_a_crawl_has_its_place() {
    let text = "[[annotator]]\nnmae = \"a\"\nrole = \"anotator\"\nqualified = \"yes\"\n\n[[crawl]]\nname = \"f\"\nseeds = 5\nrefresh = \"some\"\nscope = { max_pages = 0 }\n";
    let met = Workspace::with(text).call(["config"]).expect(2).err;
    let beside = "[[crawl]]\nname = \"f\"\nsite = { profile = \"discuz\", nmae = 1 }\ncontact = \"you@example.org\"\nseeds = [{ url = \"https://example.org/\" }]\n";
    let told = Workspace::with(beside).call(["config"]).expect(2).err;
    assert!(told.contains("pipeline.toml:3:30: unknown key \"nmae\"\n  hint: valid here: profile"), "{told}");
    for expected in [
        "pipeline.toml:1:1: [[annotator]] lacks `name`",
        "pipeline.toml:2:1: unknown key \"nmae\"\n  hint: did you mean \"name\"?",
        "pipeline.toml:3:8: role: expected one of annotator, junior, senior, meta; did you mean \"annotator\"?",
        "pipeline.toml:4:13: qualified: expected true or false",
        "pipeline.toml:8:9: seeds: expected a list of tables",
        "pipeline.toml:9:11: refresh: expected false, \"changed\" or \"all\"",
        "pipeline.toml:10:23: scope.max_pages: expected a whole number of at least 1",
    ] {
        assert!(met.contains(expected), "{expected} is not in\n{met}");
    }
}

#[test]
fn editors_get_the_schema_of_all_settings() {
    let nowhere = Workspace::folder();
    let schema: Value = serde_json::from_str(&nowhere.call(["config", "--schema"]).expect(0).out).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let tables = &schema["properties"];
    let rpm = &tables["llm"]["additionalProperties"]["properties"]["rpm"];
    assert_eq!(
        (&rpm["type"], &rpm["minimum"], &rpm["maximum"]),
        (&json!("integer"), &json!(1), &json!(4294967295u32))
    );
    assert_eq!(tables["annotator"]["items"]["required"], json!(["name", "role"]));
    assert_eq!(tables["dedup"]["properties"]["keep"]["enum"], json!(["longest", "best-scored", "earliest"]));
    // What a run as a whole does is no recipe's.
    let flub = &tables["recipe"]["properties"]["flub"]["properties"];
    assert!(flub["dedup"].is_object() && flub.get("run").is_none(), "{flub}");
    let sample = Workspace::sample();
    let settings: Value = serde_json::from_str(&sample.call(["config", "--json"]).expect(0).out).unwrap();
    for setting in settings["settings"].as_array().unwrap() {
        let key = setting["key"].as_str().unwrap();
        let path = format!("/{}", key.replace('.', "/properties/"));
        let property = tables.pointer(&path).unwrap_or_else(|| panic!("{key} is not in the schema"));
        assert!(property["description"].is_string(), "{key}");
    }
    // One of the two: a table is explained, or all of them are described.
    nowhere.call(["config", "--schema", "--explain", "draft"]).expect(2);
}

#[test]
fn editors_get_the_schema_of_every_file_that_people_write() {
    let nowhere = Workspace::folder();
    let schema = |file: &str| -> Value {
        let out = nowhere.call(["config", &format!("--schema={file}")]).expect(0).out;
        serde_json::from_str(&out).unwrap()
    };
    assert_eq!(schema("pipeline")["title"], "Settings of a riddlemill workspace");
    let drop_if = &schema("benchmark")["properties"]["step"]["additionalProperties"]["properties"]["drop_if"];
    assert_eq!(drop_if["anyOf"][0]["type"], "string");
    let voters = &schema("ballots")["properties"]["ballots"]["properties"]["voters"];
    assert_eq!(voters["items"]["enum"], json!(["annotator", "junior", "senior", "meta"]));
    assert_eq!(schema("report")["properties"]["part"]["additionalProperties"]["required"][0], "key");
    assert_eq!(schema("profile")["properties"]["format"]["enum"], json!(["html", "json", "xml"]));
    let refused = nowhere.call(["config", "--schema=ballot"]).expect(2).err;
    assert!(refused.contains("ballots"), "{refused}");
    let pages = Workspace::folder();
    pages.call(["man", "--reference", "reference"]).expect(0);
    assert!(pages.read("reference/folders.md").contains("### [ballot.NAME]"));
    assert!(pages.read("reference/profiles.md").contains("| `strip_text` |"));
    assert_eq!(
        serde_json::from_str::<Value>(&pages.read("reference/report.schema.json")).unwrap(),
        schema("report")
    );
}

#[test]
fn a_value_of_a_folder_is_refused_with_its_key_place_and_bounds() {
    let ws = Workspace::with("");
    ws.write(
        "benchmarks/mine/benchmark.toml",
        "about = \"x\"\nsteps = [\"import\", \"review:fair\"]\norder = -1\n[data]\nabout = \"x\"\nrests_onn = [\"fair\"]\n",
    );
    ws.write(
        "benchmarks/mine/ballots.toml",
        "[ballot.fair]\ntitle = \"Fair?\"\nguideline = \"Say.\"\nvoters = [\"junor\"]\n[ballot.fair.fields.why]\nlabel = \"Why?\"\noptional = \"yes\"\n",
    );
    let met = ws.call(["benchmark", "check"]).expect(2);
    let met = met.out + &met.err;
    for expected in [
        "benchmark.toml:3:9: order: expected a whole number of at least 0",
        "benchmark.toml:6:1: unknown key \"rests_onn\"\n  hint: did you mean \"rests_on\"?",
        "ballots.toml:4:11: voters: expected one of annotator, junior, senior, meta; did you mean \"junior\"?",
        "ballots.toml:7:12: optional: expected true or false",
    ] {
        assert!(met.contains(expected), "{expected} is not in\n{met}");
    }
}
