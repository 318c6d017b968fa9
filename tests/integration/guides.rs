//! Every guide of docs/guides is executed as written: its files are created, its commands run, and they print
//! what it shows. `RIDDLEMILL_BLESS=1` updates the guide instead.
//!
//! A block after "`PATH`:" is a file, after "end of `PATH`:" it is appended. Of a console block each line that begins
//! with `$ ` is run, what follows is its output, messages included. Other blocks are for reading.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::Workspace;

/// Executes one page, and returns it with the actual output of its commands.
fn typed(page: &str) -> String {
    let ws = Workspace::folder();
    let mut folder = String::from(".");
    let mut printed = String::new();
    // All dates from the clock are replaced by one day.
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let mut parts = page.split("```");
    while let Some(text) = parts.next() {
        printed.push_str(text);
        let Some(block) = parts.next() else { break };
        let (language, body) = block.split_once('\n').unwrap();
        let _ = writeln!(printed, "```{language}");
        match (language, file_before(text)) {
            ("console", _) => {
                for command in body.lines().filter_map(|line| line.strip_prefix("$ ")) {
                    let _ = writeln!(printed, "$ {command}");
                    if let Some(into) = command.strip_prefix("cd ") {
                        folder = format!("{folder}/{into}");
                        continue;
                    }
                    let binary = "riddlemill() { \"$BINARY\" \"$@\"; }; BINARY=$0";
                    let result = ws.shell(&format!("cd {folder}; {binary}; {{ {command}; }} 2>&1"));
                    assert!(result.code < 4, "{command}: {}", result.out);
                    printed.push_str(&result.out.replace(&today, "2026-01-05"));
                }
            }
            (_, Some((path, append))) => {
                let path = format!("{folder}/{path}");
                let before = if append { ws.read(&path) } else { String::new() };
                ws.write(&path, before + body);
                printed.push_str(body);
            }
            _ => printed.push_str(body),
        }
        printed.push_str("```");
    }
    printed
}

/// The file that the block after this text is, and whether it is to be appended.
fn file_before(text: &str) -> Option<(&str, bool)> {
    let (before, name) = text.trim_end().strip_suffix("`:")?.rsplit_once('`')?;
    Some((name, before.trim_end().ends_with("end of") || before.trim_end().ends_with("end\nof")))
}

#[test]
fn the_guides_print_what_they_show() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides");
    let mut guides: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    guides.sort();
    assert!(guides.len() >= 5, "{guides:?}");
    for guide in guides {
        let page = fs::read_to_string(&guide).unwrap();
        let printed = typed(&page);
        if std::env::var_os("RIDDLEMILL_BLESS").is_some() {
            fs::write(&guide, printed).unwrap();
        } else {
            shows(&guide, &page, &printed);
        }
    }
}

fn shows(guide: &Path, page: &str, printed: &str) {
    let name = guide.file_name().unwrap().to_string_lossy();
    for (line, (shown, now)) in page.lines().zip(printed.lines()).enumerate() {
        assert_eq!(shown, now, "{name}:{}: RIDDLEMILL_BLESS=1 writes what is printed now", line + 1);
    }
    assert_eq!(page.lines().count(), printed.lines().count(), "{name}");
}
