//! `verify`: checks a folder from its own files.

use super::args::{Global, Verify};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::release::verify::{close_raw, verify_folder as check};

pub(super) fn verify_release(args: &Verify, global: &Global) -> Result<Exit, Failure> {
    if !args.folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", args.folder.display())));
    }
    let mut verified = check(&args.folder)?;
    // A damaged folder cannot be traced back to raw/; its own findings come first.
    if args.raw && verified.findings.is_empty() {
        close_raw(&args.folder, &output::load_config(global)?, &mut verified)?;
    }
    if global.json {
        output::print_json(&verified)?;
    } else {
        let mut text: String = verified.findings.iter().map(|f| format!("{f}\n")).collect();
        let looked = format!("{}, {}", count(verified.files as u64, "file"), count(verified.rows, "row"));
        text.push_str(&match verified.findings.len() {
            0 if args.raw => format!("{looked}: all checks passed, and every row was traced back to raw/\n"),
            0 => format!("{looked}: all checks passed\n"),
            n => format!("{looked}: {}\n", count(n as u64, "finding")),
        });
        output::print_text(&text)?;
    }
    Ok(if verified.findings.is_empty() { Exit::Done } else { Exit::Gap })
}
