//! docs/endpoints.md is executed as written, against servers on loopback: its commands print what it shows,
//! its settings are valid. `RIDDLEMILL_BLESS=1` updates the page instead.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use regex::Regex;

use crate::batches::Batches;
use crate::chapter::blocks;
use crate::generate::Server;
use crate::harness::Workspace;

/// Replaces the parts of the output that differ from day to day.
fn the_same_every_day(result: &str) -> String {
    static PLACES: OnceLock<[(Regex, &str); 4]> = OnceLock::new();
    let places = PLACES.get_or_init(|| {
        [
            (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "Tue, 24 Nov 2026 06:40:00 GMT"),
            (r"\b1\d{12}-\d+-\d+\b", "1795502400000-4242-0"),
            (r"\(\d[\d,]* bytes\)", "(17,777 bytes)"),
            (r"(?m)^time       \d+\.\d\d s$", "time       0.01 s"),
        ]
        .map(|(place, instead)| (Regex::new(place).unwrap(), instead))
    });
    places
        .iter()
        .fold(result.to_owned(), |result, (place, instead)| place.replace_all(&result, *instead).into_owned())
}

#[test]
fn the_chapter_on_endpoints_says_what_happens() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/endpoints.md");
    let chapter = fs::read_to_string(&path).unwrap();
    let (server, batches) = (Server::start(None), Batches::start("openai"));
    let addresses = [
        ("https://api.example.org", format!("http://127.0.0.1:{}", server.port)),
        ("https://batch.example.org", format!("http://127.0.0.1:{}", batches.port)),
    ];
    let ws = Workspace::folder();
    let (mut folder, mut exported) = (".".to_owned(), String::new());
    let mut actual = String::new();
    for part in blocks(&chapter) {
        let block = match part {
            Err(text) => {
                actual += text;
                continue;
            }
            Ok(block) => block,
        };
        let mut result = String::new();
        if block.language == "toml" {
            let file = format!("{folder}/pipeline.toml");
            let here = |text: &str| {
                addresses.iter().fold(text.to_owned(), |t, (there, here)| t.replace(there, here))
            };
            ws.write(&file, ws.read(&file) + "\n" + &here(block.text));
            ws.shell(&format!("cd {folder} && \"$0\" config")).expect(0);
        }
        for line in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            result += &format!("$ {line}\n");
            if let Some(to) = line.strip_prefix("cd ") {
                folder = to.to_owned();
                continue;
            }
            if line.starts_with("export ") {
                exported = format!("{line}; ");
                continue;
            }
            let command = line.strip_prefix("riddlemill ").unwrap();
            let out = ws.shell(&format!("cd {folder} && {exported}\"$0\" {command} 2>&1"));
            assert!([0, 2, 3].contains(&out.code), "{command}: {} {}", out.out, out.err);
            // The page shows the addresses that it has in its settings.
            let there = |text: String, (there, here): &(&str, String)| text.replace(here, there);
            result += &addresses.iter().fold(the_same_every_day(&out.out), there);
        }
        let text = if block.language == "console" { &result } else { block.text };
        actual += &format!("```{}\n{text}```", block.language);
    }
    if std::env::var_os("RIDDLEMILL_BLESS").is_some() {
        fs::write(&path, actual).unwrap();
        return;
    }
    for (actual, chapter) in actual.lines().zip(chapter.lines()) {
        assert_eq!(actual, chapter);
    }
    assert_eq!(actual.lines().count(), chapter.lines().count());
}
