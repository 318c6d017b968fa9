//! `init`: a new workspace; with files of posts a `[[source]]` proposed for each, and written when told.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::{Global, Init};
use super::commands::workspace_option;
use super::exit::{Exit, Failure};
use super::terminal::{HANG, visible_line};
use super::{init, output};
use crate::config::{Config, FILE, Profiles, toml_string};
use crate::recipe;
use crate::stages::import::{NoSource, SourceProposal, propose_source, source_of};
use crate::store::{Error, durable};
use riddlemill_files::shell_path;

/// Ends of files' names: what has one and is not there is a mistyped file and no folder to create.
const ENDS: &[&str] = &[
    "json", "jsonl", "ndjson", "csv", "tsv", "txt", "xlsx", "xls", "ods", "parquet", "gz", "zst", "bz2",
    "xz", "zip", "html", "htm", "mhtml", "mht", "xml", "warc", "wacz",
];

/// Columns that are named.
const NAMED: usize = 12;
/// Most files of a folder that are looked at.
const FILES: usize = 500;
/// Characters of the example that is shown.
const SHOWN: usize = 60;

/// `init`: a workspace, or sources for files.
pub(super) fn init_workspace(args: &Init, global: &Global) -> Result<Exit, Failure> {
    let (root, files) = split_places(&args.places, &global.workspace)?;
    if let Some(name) = &args.benchmark {
        return init::copy_out(name, &root, global);
    }
    if !files.is_empty() {
        return propose_sources(&root, &files, args.write, global);
    }
    if args.write {
        return Err(Failure::usage(
            "no file is given whose source could be written\n  hint: `riddlemill init . FILE… --write` names files of posts",
        ));
    }
    init::create_workspace(&root, args.empty, global)?;
    if global.json {
        let settings = root.join(FILE).display().to_string();
        output::print_json(
            &serde_json::json!({ "workspace": root.display().to_string(), "settings": settings }),
        )?;
    }
    if !global.quiet {
        let at = workspace_option(&root);
        match args.empty {
            true => eprintln!(
                "hint: `riddlemill init {} FILE…` proposes a [[source]] for each file of posts, and with --write adds it to {FILE}; then `riddlemill{at} run`",
                shell_path(&root)
            ),
            false => eprintln!("next: riddlemill{at} run"),
        }
    }
    Ok(Exit::Done)
}

/// The workspace's folder and the files among the arguments.
fn split_places(given: &[PathBuf], workspace: &Path) -> Result<(PathBuf, Vec<PathBuf>), Failure> {
    let mut root: Option<PathBuf> = None;
    let mut files = Vec::new();
    for place in given {
        // A folder beside the workspace holds files.
        if place.is_dir() && (root.is_some() || !files.is_empty()) {
            let found = files_below(place)?;
            if found.is_empty() {
                return Err(Failure::usage(format!(
                    "{}: the folder has no file in it that is not hidden",
                    place.display()
                )));
            }
            files.extend(found);
            continue;
        }
        let ends = place.extension().and_then(|end| end.to_str()).map(str::to_lowercase);
        if place.is_file() {
            let same = |other: &PathBuf| fs::canonicalize(other).ok() == fs::canonicalize(place).ok();
            if files.iter().any(same) {
                return Err(Failure::usage(format!("{} is given twice", place.display())));
            }
            files.push(place.clone());
        } else if !place.exists() && ends.is_some_and(|end| ENDS.contains(&end.as_str())) {
            return Err(Failure::usage(format!("{}: there is no such file", place.display())));
        } else if let Some(first) = root.replace(place.clone()) {
            let both = format!("{} and {} are both folders", first.display(), place.display());
            return Err(Failure::usage(format!("{both}\n  hint: one workspace, and files of posts")));
        }
    }
    // `.` is the default of the argument, and then -C counts.
    let root = root.filter(|root| root.as_os_str() != ".").unwrap_or_else(|| workspace.to_owned());
    Ok((root, files))
}

/// The files below a folder that are not hidden, in the order of their names.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Error::io("read", &folder))? {
            let path = entry.map_err(Error::io("read", &folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match () {
                () if name.starts_with('.') || name.ends_with(".part") => {}
                () if path.is_dir() => folders.push(path),
                () => found.push(path),
            }
        }
    }
    found.sort();
    match found.len() {
        ..=FILES => Ok(found),
        many => Err(Failure::usage(format!(
            "{} has {many} files, which are not proposed one by one\n  hint: give one of them; a [[source]] whose `path` is the folder reads all that are like it",
            folder.display()
        ))),
    }
}

/// What a file is called and what would read it, or why nothing does.
type Proposed = Result<(NamedSource, SourceProposal), NoSource>;

/// Proposes the sources of files, and writes them if told to.
fn propose_sources(root: &Path, files: &[PathBuf], write: bool, global: &Global) -> Result<Exit, Failure> {
    let settings = root.join(FILE);
    let mut text = match settings.exists() {
        true => fs::read_to_string(&settings).map_err(Error::io("read", &settings))?,
        false => String::new(),
    };
    let profiles = Profiles::open(root);
    let mut proposals: Vec<(&Path, Proposed)> = Vec::new();
    for file in files {
        let named = NamedSource::of_file(root, file, &text);
        let found = match named.reading_source(&text) {
            Some(reader) => Err(NoSource::Read(reader)),
            None => propose_source(file, &profiles).map(|mut proposal| {
                if let Some((other, _)) = proposals.iter().find(|(_, other)| {
                    other.as_ref().is_ok_and(|(_, other)| have_ids_of_others(&proposal, other))
                }) {
                    proposal.number_apart(&named.name, other);
                }
                // The next file's name is another, and so is its place in raw/dumps.
                text.push_str(&format!(
                    "\n[[source]]\nname = {}\npath = {}\n",
                    toml_string(&named.name),
                    toml_string(&named.path)
                ));
                (named, proposal)
            }),
        };
        proposals.push((file, found));
    }
    let found: Vec<&(NamedSource, SourceProposal)> =
        proposals.iter().filter_map(|(_, found)| found.as_ref().ok()).collect();
    if global.json {
        let rows = proposals.iter().map(|(file, found)| match found {
            Ok((named, proposal)) => json!({
                "file": file.display().to_string(), "source": source_table(named, proposal), "kind": proposal.kind,
                "fields": proposal.fields, "optional": proposal.optional, "at": proposal.at, "other_lists": proposal.other_lists,
                "profile": proposal.profile, "language": proposal.language,
                "unused": proposal.unused, "people": proposal.people,
                "rows": proposal.rows, "written": write,
            }),
            Err(why) => json!({ "file": file.display().to_string(), "why": why.to_string() }),
        });
        output::print_json(&rows.collect::<Vec<_>>())?;
    } else {
        let text: String = proposals.iter().map(|(file, found)| proposal_text(file, found)).collect();
        output::print_text(&text)?;
    }
    if write && !found.is_empty() {
        add(root, &found, global)?;
    }
    if !global.quiet && !found.is_empty() {
        let at = workspace_option(root);
        match write {
            true => eprintln!("next: riddlemill{at} run && riddlemill{at} audit"),
            false => {
                let of = |(file, found): &(&Path, Result<_, _>)| {
                    found.is_ok().then(|| format!(" {}", shell_path(file)))
                };
                let good: String = proposals.iter().filter_map(of).collect();
                eprintln!(
                    "next: riddlemill init {}{good} --write  (writes this into {FILE})",
                    shell_path(root)
                );
            }
        }
    }
    Ok(if found.len() < files.len() { Exit::Partial } else { Exit::Done })
}

/// Whether two files have posts of one id with unlike texts: each numbers its own rows.
fn have_ids_of_others(new: &SourceProposal, known: &SourceProposal) -> bool {
    let texts: BTreeMap<&str, &str> = known.posts.iter().map(|(id, text)| (&**id, &**text)).collect();
    new.posts.iter().any(|(id, text)| texts.get(&**id).is_some_and(|known| known != text))
}

/// What a source is called, and where its file will be.
struct NamedSource {
    name: String,
    /// Relative to pipeline.toml, with slashes.
    path: String,
    /// The file to copy, if it is not in the workspace.
    from: Option<PathBuf>,
}

impl NamedSource {
    fn of_file(root: &Path, file: &Path, settings: &str) -> NamedSource {
        let called = file.file_name().unwrap_or_default().to_string_lossy();
        let stem = called.split('.').next().unwrap_or_default();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let stem: String = stem.chars().map(|c| if fits(c) { c } else { '-' }).collect();
        let stem = match stem.trim_matches('-') {
            "" => "dump",
            stem => stem,
        };
        let free = |name: &String| !settings.contains(&format!("name = \"{name}\""));
        let numbered = (2..).map(|n| format!("{stem}-{n}"));
        let name = std::iter::once(stem.to_owned()).chain(numbered).find(free).unwrap_or_default();
        let inside = fs::canonicalize(root).ok().zip(fs::canonicalize(file).ok());
        let inside = inside.and_then(|(root, file)| Some(file.strip_prefix(root).ok()?.to_owned()));
        match inside {
            Some(inside) => {
                let parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
                NamedSource { name, path: parts.collect::<Vec<_>>().join("/"), from: None }
            }
            None => {
                // Two files of one name are two files in raw/dumps: the second has the name of its source.
                let ends = called.split_once('.').map(|(_, ends)| format!(".{ends}")).unwrap_or_default();
                let path = match format!("raw/dumps/{called}") {
                    path if source_of(settings, &path).is_some() && !root.join(&path).exists() => {
                        format!("raw/dumps/{name}{ends}")
                    }
                    path => path,
                };
                NamedSource { name, path, from: Some(file.to_owned()) }
            }
        }
    }

    /// The source that reads a file where it is.
    fn reading_source(&self, settings: &str) -> Option<String> {
        if self.from.is_some() { None } else { source_of(settings, &self.path) }
    }
}

/// The table as it is written.
fn source_table(named: &NamedSource, proposal: &SourceProposal) -> String {
    let mut text = format!(
        "[[source]]\nname = {}\nkind = {}\npath = {}\n",
        toml_string(&named.name),
        toml_string(proposal.kind),
        toml_string(&named.path)
    );
    if !proposal.fields.is_empty() {
        let fields: Vec<String> = proposal
            .fields
            .iter()
            .map(|(field, column)| format!("{field} = {}", toml_string(column)))
            .collect();
        text.push_str(&format!("fields = {{ {} }}\n", fields.join(", ")));
    }
    if !proposal.optional.is_empty() {
        let columns: Vec<String> = proposal.optional.iter().map(|column| toml_string(column)).collect();
        text.push_str(&format!("optional = [{}]\n", columns.join(", ")));
    }
    if let Some(at) = &proposal.at {
        text.push_str(&format!("at = {}\n", toml_string(at)));
    }
    if let Some(profile) = &proposal.profile {
        text.push_str(&format!("profile = {}\n", toml_string(profile)));
    }
    if proposal.bare {
        // The ids of two sites would otherwise be those of one.
        text.push_str(&format!("namespace = {}\n", toml_string(&named.name)));
    }
    if let Some(language) = proposal.language {
        text.push_str(&format!("language = {}\n", toml_string(language)));
    }
    text
}

fn proposal_text(file: &Path, found: &Proposed) -> String {
    match found {
        Ok((named, proposal)) => {
            let example: String = visible_line(&proposal.example).chars().take(SHOWN).collect();
            let rows = match proposal.kind {
                "profile" | "warc" => output::count(proposal.rows as u64, "post"),
                _ => output::count(proposal.rows as u64, "row"),
            };
            format!(
                "# {}: by its first {rows}; the first text: {HANG}{example}\n{}{}\n",
                file.display(),
                proposal_remarks(proposal),
                source_table(named, proposal)
            )
        }
        Err(why) => format!("# {}: no source: {HANG}{why}\n\n", file.display()),
    }
}

/// What the proposal leaves out, to be looked at before it is taken.
fn proposal_remarks(proposal: &SourceProposal) -> String {
    let list = |columns: &[String]| -> String {
        let more = columns.len().saturating_sub(NAMED);
        let shown = visible_line(&columns[..columns.len() - more].join(", "));
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let mut text = String::new();
    if let Some(at) = &proposal.at {
        text.push_str(&match at.as_str() {
            "/" => "# its objects hold lists of records, too: at = \"/\" reads the objects themselves\n"
                .to_owned(),
            at => format!(
                "# its objects hold a list of records, {}; at = \"/\" would read the objects themselves\n",
                visible_line(at)
            ),
        });
    }
    if !proposal.other_lists.is_empty() {
        text.push_str(&format!(
            "# and other lists, which this source does not read: {HANG}{}; a [[source]] with another `at` reads one\n",
            list(&proposal.other_lists)
        ));
    }
    if let Some(other) = &proposal.numbered_as {
        text.push_str(&format!(
            "# its ids are those of other posts in {HANG}{}, so each has the name of the source before it\n",
            visible_line(other)
        ));
    }
    if !proposal.unused.is_empty() {
        text.push_str(&format!("# not read: {HANG}{}\n", list(&proposal.unused)));
    }
    if !proposal.people.is_empty() {
        let author = match proposal.fields.contains_key("author") || proposal.kind != "table" {
            true => "one column can be the author",
            false => "name the authors' as `author` under fields",
        };
        text.push_str(&format!(
            "# of these, people: {HANG}{}: names that are not read stay in the texts; {author}\n",
            list(&proposal.people)
        ));
    }
    text
}

/// Copies the files and adds their tables, of which all or none are written.
fn add(root: &Path, found: &[&(NamedSource, SourceProposal)], global: &Global) -> Result<(), Failure> {
    let settings = root.join(FILE);
    // Before anything is written.
    let mut taken = std::collections::BTreeSet::new();
    for (named, _) in found {
        let to = root.join(&named.path);
        // Two files of one name would be one in raw/dumps.
        if named.from.is_some() && (to.exists() || !taken.insert(to.clone())) {
            let hint = "hint: rename the file, or name the one that is there";
            return Err(Failure::usage(format!(
                "{} already exists; it was not changed\n  {hint}",
                to.display()
            )));
        }
    }
    if !settings.exists() {
        init::create_workspace(root, true, global)?;
    }
    for (named, _) in found {
        let Some(from) = &named.from else { continue };
        let to = root.join(&named.path);
        let mut partial = to.clone().into_os_string();
        partial.push(".part");
        fs::copy(from, &partial).map_err(Error::io("copy", from))?;
        fs::rename(&partial, &to).map_err(Error::io("rename", &to))?;
    }
    let before = fs::read_to_string(&settings).map_err(Error::io("read", &settings))?;
    let tables: Vec<String> = found.iter().map(|(named, proposal)| source_table(named, proposal)).collect();
    let after = format!("{}\n\n{}", before.trim_end(), tables.join("\n"));
    durable::replace_file(&settings, after.as_bytes())?;
    let checked = Config::load(
        root,
        &recipe::recipe_names(),
        &recipe::changed_defaults(),
        &output::collect_overrides(global, &[]),
    );
    if let Err(problems) = checked {
        // Settings that cannot be read would keep every verb from working.
        durable::replace_file(&settings, before.as_bytes())?;
        return Err(problems.into());
    }
    if !global.quiet {
        eprintln!("{}: {} added", settings.display(), output::count(found.len() as u64, "source"));
    }
    Ok(())
}
