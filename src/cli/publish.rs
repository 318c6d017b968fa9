//! `publish`: publishes a release.

use serde_json::json;

use super::args::{Global, Outlet, Publish};
use super::exit::{Exit, Failure};
use super::output;
use crate::release::outlet::{OutletError, Publishable, shown};

impl From<OutletError> for Failure {
    fn from(error: OutletError) -> Failure {
        let exit = match &error {
            OutletError::Store(_) => Exit::Io,
            OutletError::Findings { .. } => Exit::Gap,
            OutletError::Hub { .. } => Exit::Partial,
            _ => Exit::Usage,
        };
        Failure { exit, message: error.to_string() }
    }
}

pub(super) fn publish(args: &Publish, global: &Global) -> Result<Exit, Failure> {
    if !args.folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", args.folder.display())));
    }
    let release = Publishable::open(&args.folder, args.draft)?;
    if !release.has_authors() && !global.quiet {
        eprintln!(
            "note: its metadata names no author, so that Zenodo's and DataCite's are not written; write curator/authors.md, and release the set as a new version"
        );
    }
    match &args.to {
        Outlet::Archive(file) => {
            let named = || global.workspace.join("output").join(format!("{}.tar.zst", release.name()));
            let made = release.archive(&file.clone().unwrap_or_else(named))?;
            if global.json {
                output::json(&json!({ "sha256": made.sha256, "bytes": made.bytes, "files": made.files }))?;
            } else {
                let files = made.files.iter().map(|file| format!("{}\n", file.display()));
                output::print(&(files.collect::<String>() + &format!("sha256 {}\n", made.sha256)))?;
            }
        }
        Outlet::Hub(repo) => {
            let commands: Vec<String> = release.hub(repo, args.private).iter().map(|c| shown(c)).collect();
            if args.go {
                release.upload(repo, args.private, |command| {
                    if !global.quiet && !global.json {
                        eprintln!("{command}");
                    }
                })?;
            }
            if global.json {
                output::json(&json!({ "commands": commands, "uploaded": args.go }))?;
            } else if args.go {
                output::print(&format!("https://huggingface.co/datasets/{repo}\n"))?;
            } else {
                output::print(&(commands.join("\n") + "\n"))?;
                if !global.quiet {
                    eprintln!("nothing was sent; `--go` runs these");
                }
            }
        }
    }
    Ok(Exit::Done)
}
