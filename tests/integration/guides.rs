//! Every guide of docs/guides is executed as written, and so are the README and docs/not-among-the-four.md: their files
//! are created, their commands run, and they print what the page shows. `RIDDLEMILL_BLESS=1` updates the page instead.
//!
//! A block after "`PATH`:" is a file, after "end of `PATH`:" it is appended. Of a console block each line that begins
//! with `$ ` is run, what follows is its output, messages included. Other blocks are for reading.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::Workspace;

/// The day of what is shown.
const DAY: &str = "2026-01-05";

/// The same with one time of that day, as in `2026-01-05T08:00:00Z`.
fn dated(text: &str) -> String {
    let mut parts = text.split(DAY);
    let mut dated = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        dated.push_str(DAY);
        let time = part.get(..10).filter(|time| {
            time.chars().zip("T00:00:00Z".chars()).all(|(c, form)| match form {
                '0' => c.is_ascii_digit(),
                form => c == form,
            })
        });
        dated.push_str(if time.is_some() { "T08:00:00Z" } else { "" });
        dated.push_str(&part[time.map_or(0, str::len)..]);
    }
    dated
}

/// Executes one page in this folder, and returns it with the actual output of its commands.
fn typed(page: &str, ws: &Workspace) -> String {
    let mut folder = String::from(".");
    let mut printed = String::new();
    // All dates from the clock are replaced by one moment.
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
                    printed.push_str(&dated(&result.out.replace(&today, DAY)));
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
    let folder = root().join("docs/guides");
    let mut guides: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    guides.sort();
    assert!(guides.len() >= 5, "{guides:?}");
    for guide in guides {
        prints_what_it_shows(&guide, &Workspace::folder());
    }
}

/// The repository is a workspace with the sample, and the README is typed in it.
#[test]
fn the_readme_prints_what_it_shows() {
    prints_what_it_shows(&root().join("README.md"), &Workspace::sample());
    prints_what_it_shows(&root().join("docs/not-among-the-four.md"), &Workspace::folder());
}

/// What is not in a console block is typed by nobody, and may be wrong.
#[test]
fn every_command_of_the_readme_is_typed() {
    for page in ["README.md", "docs/not-among-the-four.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let untyped = text.lines().find(|line| line.starts_with("    riddlemill "));
        assert_eq!(untyped, None, "{page}: a command stands in a block of `console`, after `$ `");
    }
}

/// Only the owner knows the address. Once the package has one, the clone lines have it, too.
#[test]
fn the_clone_line_has_the_address_of_the_package() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let package = manifest.split("[package.metadata").next().unwrap();
    let address = package.lines().find_map(|line| line.strip_prefix("repository = "));
    let address = address.map_or("ADDRESS", |address| address.trim_matches('"'));
    for page in ["README.md", "docs/index.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(
            text.contains(&format!("git clone {address} riddlemill && cd riddlemill\n")),
            "{page}: {address}"
        );
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn prints_what_it_shows(guide: &Path, ws: &Workspace) {
    let page = fs::read_to_string(guide).unwrap();
    let printed = typed(&page, ws);
    if std::env::var_os("RIDDLEMILL_BLESS").is_some() {
        fs::write(guide, printed).unwrap();
    } else {
        shows(guide, &page, &printed);
    }
}

/// A line of the table of a run without its time, which stands there where a stage took more than a second.
fn without_time(line: &str) -> &str {
    let bare = line.strip_suffix(" s").and_then(|line| line.rsplit_once(' '));
    let bare = bare.filter(|(_, seconds)| seconds.parse::<f64>().is_ok());
    bare.map_or(line, |(rest, _)| rest.trim_end_matches([' ', ',']))
}

fn shows(guide: &Path, page: &str, printed: &str) {
    let name = guide.file_name().unwrap().to_string_lossy();
    for (line, (shown, now)) in page.lines().zip(printed.lines()).enumerate() {
        let [shown, now] = [shown, now].map(without_time);
        assert_eq!(shown, now, "{name}:{}: RIDDLEMILL_BLESS=1 writes what is printed now", line + 1);
    }
    assert_eq!(page.lines().count(), printed.lines().count(), "{name}");
}
