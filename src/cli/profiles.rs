//! `profiles`: how sites' pages are parsed, including a workspace's own profiles.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::{Global, ProfilesVerb};
use super::exit::{Exit, Failure};
use super::output;
use crate::config::profile::{self, FOLDER, SHIPPED};
use crate::config::{Profiles, toml_string, unknown};
use crate::pages::profile::KEYS;
use crate::store::{Error, durable};

pub(super) fn run_profiles_verb(verb: &ProfilesVerb, global: &Global) -> Result<Exit, Failure> {
    let profiles = Profiles::open(&global.workspace);
    match verb {
        ProfilesVerb::List => list_profiles(&profiles, global)?,
        ProfilesVerb::Show { name } => {
            let text = profile_text(&profiles, name)?;
            match global.json {
                true => output::print_json(&json!({ "name": name, "text": text }))?,
                false => output::print_text(&text)?,
            }
        }
        ProfilesVerb::Copy { name, new } => copy_profile(&profiles, name, new.as_deref().unwrap_or(name))?,
        ProfilesVerb::Check { files } => return check_profiles(&profiles, files, global),
        ProfilesVerb::Keys => list_keys(global)?,
    }
    Ok(Exit::Done)
}

fn list_profiles(profiles: &Profiles, global: &Global) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for name in profiles.profile_names() {
        let read = profiles.load_profile(&name);
        let (about, holds) = match &read {
            Ok(Some(profile)) => {
                (profile.about().to_owned(), if profile.holds_riddles() { "riddles" } else { "posts" })
            }
            Ok(None) => continue,
            Err(problems) => (
                format!(
                    "cannot be used: {} (`riddlemill profiles check` lists the problems)",
                    count_problems(problems.len())
                ),
                "?",
            ),
        };
        let shipped = SHIPPED.iter().any(|(known, _)| *known == name);
        let own = match (profiles.is_own(&name), shipped) {
            (true, true) => format!("  <- {FOLDER}/{name}.toml, instead of the built-in one"),
            (true, false) => format!("  <- {FOLDER}/{name}.toml"),
            _ => String::new(),
        };
        rows.push((name, holds, about, own));
    }
    if global.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, holds, about, own)| json!({ "name": name, "holds": holds, "about": about, "own": !own.is_empty() }))
            .collect();
        return output::print_json(&rows);
    }
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let lines =
        rows.iter().map(|(name, holds, about, own)| format!("{name:width$}  {holds:7}  {about}{own}\n"));
    output::print_text(&lines.collect::<String>())
}

fn count_problems(problems: usize) -> String {
    output::count(problems as u64, "problem")
}

fn profile_text(profiles: &Profiles, name: &str) -> Result<String, Failure> {
    let found = profiles
        .read_text(name)
        .map_err(|problem| Failure::usage(format!("{}: {}", problem.place, problem.what)))?;
    found.ok_or_else(|| {
        let names = profiles.profile_names();
        Failure::usage(unknown("profile", name, names.iter().map(String::as_str)))
    })
}

fn copy_profile(profiles: &Profiles, name: &str, new: &str) -> Result<(), Failure> {
    if !profile::is_plain_name(new) {
        return Err(Failure::usage(format!(
            "a profile's name is made of letters, digits, `-`, `_` and `.`, not {new:?}"
        )));
    }
    let text = profile_text(profiles, name)?;
    let path = profiles.own_path(new);
    if path.exists() {
        let what = format!(
            "{} already exists; it was not changed\n  hint: choose another name with --as, or move it away",
            path.display()
        );
        return Err(Failure::usage(what));
    }
    if let Some(folder) = path.parent() {
        durable::create_folder(folder)?;
    }
    durable::replace_file(&path, text.as_bytes())?;
    let undo = match SHIPPED.iter().any(|(shipped, _)| *shipped == new) {
        true => {
            format!("it replaces the built-in {new:?}; delete the file to get that back")
        }
        false => {
            let name = toml_string(new);
            format!("`site = {name}` of a [[crawl]] and `profile = {name}` of a [[source]] name it")
        }
    };
    output::print_text(&format!(
        "{}\n  {undo}\n  next: change it, then `riddlemill crawl --try FILE --profile {new}` shows what it makes of a page\n",
        path.display()
    ))
}

fn check_profiles(profiles: &Profiles, files: &[PathBuf], global: &Global) -> Result<Exit, Failure> {
    let own = || {
        profiles
            .profile_names()
            .into_iter()
            .filter(|name| profiles.is_own(name))
            .map(|name| profiles.own_path(&name))
    };
    let files: Vec<PathBuf> = if files.is_empty() { own().collect() } else { files.to_vec() };
    let mut text = String::new();
    let (mut rows, mut bad) = (Vec::new(), 0);
    for file in &files {
        let content = std::fs::read_to_string(file).map_err(Error::io("read", file))?;
        let place = path_in_workspace(file, &global.workspace);
        match profile::read_profile(&place, &content) {
            Ok(profile) => {
                let holds = if profile.holds_riddles() { "riddles" } else { "posts" };
                text.push_str(&format!("{place}: can be used, it reads {holds}\n"));
                rows.push(json!({ "file": place, "holds": holds, "problems": [] }));
            }
            Err(problems) => {
                bad += problems.len();
                let messages: Vec<String> =
                    problems.iter().map(|p| format!("{}: {}", p.place, p.what)).collect();
                text.push_str(&format!("{}\n", messages.join("\n")));
                rows.push(json!({ "file": place, "problems": messages }));
            }
        }
    }
    if files.is_empty() {
        text.push_str(&format!(
            "{FOLDER}/ has no profile\n  hint: `riddlemill profiles copy NAME` puts one there\n"
        ));
    }
    if global.json {
        output::print_json(&rows)?
    } else {
        output::print_text(&text)?
    }
    Ok(if bad == 0 { Exit::Done } else { Exit::Usage })
}

fn path_in_workspace(file: &Path, root: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

fn list_keys(global: &Global) -> Result<(), Failure> {
    if global.json {
        let rows: Vec<_> = KEYS.iter().map(|key| json!({ "key": key.name, "doc": key.doc })).collect();
        return output::print_json(&rows);
    }
    let lines: String = KEYS.iter().map(|key| format!("{:12} {}\n", key.name, key.doc)).collect();
    output::print_text(&format!(
        "{lines}\nThe value of a key is a selector (`a.nxt`, `time@datetime` for an attribute, \
         `li@data-field#/id` for JSON\n\
         in one), a pointer if the format is JSON or XML, or a table:\n  \
         {{ from = \"…\", match = \"a pattern; its groups are taken\", in = \"item\", \"page\" or \"address\",\n    \
         as = \"text\", \"html\" or \"entities\", template = \"{{}} or {{1}} {{2}}\" }}\n\
         or a list of these: the first one that finds something is used. docs/crawl.md has examples.\n"
    ))
}
