//! `site`: a release as a folder of static pages.

use super::args::{Global, Site};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::web::site::{SiteError, write_site};

impl From<SiteError> for Failure {
    fn from(error: SiteError) -> Failure {
        match error {
            SiteError::Store(e) => e.into(),
            SiteError::Run(e) => e.into(),
            SiteError::Page(_) => Failure { exit: Exit::Io, message: error.to_string() },
            SiteError::Findings { .. } => Failure { exit: Exit::Gap, message: error.to_string() },
            other => Failure::usage(other.to_string()),
        }
    }
}

pub(super) fn make_site(args: &Site, global: &Global) -> Result<Exit, Failure> {
    if !args.folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", args.folder.display())));
    }
    let config = output::load_config(global)?;
    let written = write_site(&config, &args.folder, &args.out)?;
    if global.json {
        output::print_json(&written)?;
        return Ok(Exit::Done);
    }
    let gone = match written.gone {
        0 => String::new(),
        n => format!(", {} of withdrawn and removed rows", count(n as u64, "page")),
    };
    output::print_text(&format!(
        "{}: {}{gone}, {}, {}\n",
        args.out.display(),
        count(written.rows as u64, "row"),
        count(written.files, "file"),
        count(written.bytes, "byte")
    ))?;
    if !global.quiet {
        eprintln!("next: open {}", args.out.join("index.html").display());
    }
    Ok(Exit::Done)
}
