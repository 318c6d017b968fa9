//! `publish`: publishes a release.

use serde::Serialize;

use super::args::{Global, Outlet, Publish};
use super::exit::{Exit, Failure};
use super::output;
use crate::release::outlet::{OutletError, Publishable, quote_command};
use crate::web::site::site_of;

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

/// The commands of an upload, and whether they ran.
#[derive(Serialize)]
struct Upload {
    commands: Vec<String>,
    uploaded: bool,
}

pub(super) fn publish_release(args: &Publish, global: &Global) -> Result<Exit, Failure> {
    if !args.folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", args.folder.display())));
    }
    let release = Publishable::open(&args.folder, args.draft)?;
    check_site(args, &release)?;
    if !release.has_authors() && !global.quiet {
        eprintln!(
            "note: its metadata names no author, so that Zenodo's and DataCite's are not written; write curator/authors.md, and release the set as a new version"
        );
    }
    match &args.to {
        Outlet::Archive(file) => {
            let named =
                || global.workspace.join("output").join(format!("{}.tar.zst", release.versioned_name()));
            let made = release.write_archive(&file.clone().unwrap_or_else(named))?;
            if global.json {
                output::print_json(&made)?;
            } else {
                let files = made.files.iter().map(|file| format!("{}\n", file.display()));
                output::print_text(&(files.collect::<String>() + &format!("sha256 {}\n", made.sha256)))?;
            }
        }
        Outlet::Hub(repo) => {
            let site = args.site.as_deref();
            let commands = release.hub_commands(repo, args.private, site);
            let commands: Vec<String> = commands.iter().map(|command| quote_command(command)).collect();
            if args.go {
                release.upload_to_hub(repo, args.private, site, |command| {
                    if !global.quiet && !global.json {
                        eprintln!("{command}");
                    }
                })?;
            }
            if global.json {
                output::print_json(&Upload { commands, uploaded: args.go })?;
            } else if args.go {
                output::print_text(&format!("https://huggingface.co/datasets/{repo}\n"))?;
            } else {
                output::print_text(&(commands.join("\n") + "\n"))?;
                if !global.quiet {
                    eprintln!("nothing was sent; `--go` runs these");
                }
            }
        }
    }
    Ok(Exit::Done)
}

/// Refuses a site that is not of this release, before anything is sent.
fn check_site(args: &Publish, release: &Publishable) -> Result<(), Failure> {
    let Some(site) = &args.site else { return Ok(()) };
    if !matches!(args.to, Outlet::Hub(_)) {
        return Err(Failure::usage("--site goes to the Hub only\n  hint: --to hub:OWNER/NAME"));
    }
    match site_of(site) {
        Some(version) if version == release.versioned_name() => Ok(()),
        found => Err(Failure::usage(format!(
            "{} is {}, not the site of {}\n  hint: write it with `riddlemill site {} --out DIR`",
            site.display(),
            found.map_or_else(|| "no site".to_owned(), |found| format!("the site of {found}")),
            release.versioned_name(),
            args.folder.display()
        ))),
    }
}
