//! `fsck`: checks that all of raw/ is intact.

use super::args::{Fsck, Global};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::report::Checked;
use crate::web::{self, access::Access};

pub(super) fn check_workspace(args: &Fsck, global: &Global) -> Result<Exit, Failure> {
    let config = output::load_config(global)?;
    let checked = crate::report::fsck(&config, args.salvage, &web::registered_logs(), |workspace| {
        Access::in_workspace(workspace).list_grants().map(drop)
    })?;
    for note in checked.notes.iter().filter(|_| !global.quiet) {
        eprintln!("note: {}: {}", note.place, note.what);
    }
    match global.json {
        true => output::print_json(&checked)?,
        false => output::print_text(&checked_text(&checked))?,
    }
    Ok(if checked.findings.is_empty() { Exit::Done } else { Exit::Gap })
}

fn checked_text(checked: &Checked) -> String {
    let mut text = String::new();
    for one in &checked.salvaged {
        text.push_str(&format!(
            "salvaged raw/{}: {} kept, {} left out ({}); the damaged file is in {}\n",
            one.log,
            count(one.kept as u64, "line"),
            one.left_out,
            one.what,
            one.moved_to.display()
        ));
    }
    for one in &checked.replies {
        let lost = one.lost.map_or("how many are missing is unknown".into(), |n| format!("{n} gone"));
        text.push_str(&format!(
            "salvaged {}: {} kept, {lost} ({})\n",
            one.path.display(),
            count(one.kept, "reply"),
            one.what
        ));
        for at in &one.torn {
            text.push_str(&format!("  damaged at byte {at} of its unpacked content\n"));
        }
    }
    checked
        .findings
        .iter()
        .for_each(|finding| text.push_str(&format!("{}: {}\n", finding.place, finding.what)));
    text.push_str(&match checked.findings.len() {
        0 => "raw/ is intact\n".to_string(),
        n => count(n as u64, "finding") + "\n",
    });
    text
}
