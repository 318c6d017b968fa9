//! Exports in the shapes of public tools, from the file to posts: proposed by `init`, written, imported.

use serde_json::{Value, json};

use crate::harness::Workspace;

/// A workspace with this file's proposed source, imported, and what `show` tells of the import.
fn imported(name: &str, bytes: &str) -> (Workspace, Vec<Value>) {
    let ws = Workspace::folder();
    ws.call(["init", "--empty"]).expect(0);
    ws.write(name, bytes);
    ws.call(["init", ".", name, "--write"]).expect(0);
    // 3: a message without a text is told.
    let run = ws.call(["run", "--recipe", "chumor", "--to", "import", "--offline"]);
    assert!([0, 3].contains(&run.code), "{}", run.err);
    let shown = ws.call(["show", "import", "--recipe", "chumor", "--json"]).expect(0);
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    let entries = shown.as_array().or_else(|| shown["records"].as_array()).unwrap().clone();
    (ws, entries)
}

/// The texts that were imported.
fn texts(entries: &[Value]) -> String {
    entries.iter().map(Value::to_string).collect()
}

#[test]
fn a_chat_exported_by_telegram_desktop_is_read_with_its_texts_in_segments() {
    let chat = json!({
        "name": "Riddles", "type": "private_supergroup", "id": 1_234_567,
        "messages": [
            {"id": 1, "type": "service", "date": "2024-01-02T10:00:00", "actor": "kim", "actor_id": "user111",
             "action": "create_group", "title": "Riddles", "text": "", "text_entities": []},
            {"id": 2, "type": "message", "date": "2024-01-02T10:01:00", "from": "kim", "from_id": "user111",
             "text": "If I set the clock ahead by an hour, do I grow old earlier?", "text_entities": []},
            {"id": 3, "type": "message", "date": "2024-01-02T10:02:00", "from": "lee", "from_id": "user222",
             "text": ["Look at ", {"type": "link", "text": "example.org"}, ": why do fish never drown?"],
             "text_entities": []},
        ],
    });
    let (ws, entries) = imported("result.json", &serde_json::to_string_pretty(&chat).unwrap());
    let all = texts(&entries);
    assert!(all.contains("do I grow old earlier?") && all.contains("why do fish never drown?"), "{all}");
    assert!(!all.contains("column_missing"), "{all}");
    let settings = ws.read("pipeline.toml");
    assert!(settings.contains("author = \"from\"") && !settings.contains("title = \"title\""), "{settings}");
}

#[test]
fn a_channel_with_authors_that_are_objects_is_read() {
    let message = |id: &str, content: &str| {
        json!({"id": id, "type": "Default", "timestamp": "2024-02-01T00:00:00+00:00", "content": content,
            "author": {"id": "77", "name": "quillfeather", "isBot": false}, "attachments": [], "reactions": []})
    };
    let channel = json!({
        "guild": {"id": "11", "name": "Riddles"}, "channel": {"id": "22", "name": "riddles"},
        "dateRange": {"after": null, "before": null},
        "messages": [
            message("901", "If a shop never closes, why does it have locks on its doors?"),
            message("902", "Why did @quillfeather park in a driveway and drive on a parkway?"),
        ],
        "messageCount": 2,
    });
    let (ws, entries) = imported("channel.json", &channel.to_string());
    let all = texts(&entries);
    assert!(all.contains("locks on its doors?"), "{all}");
    assert!(ws.read("pipeline.toml").contains("author = \"author.name\""));
    // The name of a user in another post is found, because the authors were read.
    ws.call(["run", "--recipe", "chumor", "--to", "anonymise", "--offline"]).expect(0);
    let shown = ws.call(["show", "anonymise", "--recipe", "chumor", "--outcome", "changed"]).expect(0).out;
    assert!(shown.contains("@[name]") && !shown.contains("quillfeather"), "{shown}");
}

#[test]
fn a_crawlers_table_is_read_with_the_names_of_its_columns() {
    let table = "\u{feff}note_id,title,desc,note_url,publish_time,user_nickname,total_replay_num\n\
        8173224373,为什么吃饭不能吃碗？,\"老师说要珍惜粮食，\n那碗算不算粮食\",https://example.org/p/1,2024-05-01 10:00,甲甲甲,12\n\
        8173224374,把手机关机，里面的人会不会死？,,https://example.org/p/2,2024-05-01 10:05,乙乙乙,\"1,204\"\n";
    let (ws, entries) = imported("search_contents.csv", table);
    let all = texts(&entries);
    assert!(all.contains("那碗算不算粮食") && all.contains("里面的人会不会死"), "{all}");
    let settings = ws.read("pipeline.toml");
    for part in
        ["id = \"note_id\"", "content = \"desc\"", "author = \"user_nickname\"", "time = \"publish_time\""]
    {
        assert!(settings.contains(part), "{part}: {settings}");
    }
}
