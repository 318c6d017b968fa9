//! Checks the free disk space before a long run.

use super::exit::{Exit, Failure};
use crate::config::places::list_matching_files;
use crate::config::{Config, Source};
use crate::recipe::Recipe;
use crate::store::{MANIFEST, Workspace};

/// Bytes in the stages of posts for a byte of a dump: each of five contains every text that it lets through
/// and a ledger of all. For a dump of a million short posts, 141 MB, the stages up to filter take 428 MB,
/// three times as much; dedup adds about one more dump. Those of the next recipe are links to the first
/// one's.
const STAGED: u64 = 4;
/// Ratio of a dump's size to its compressed size.
const COMPRESSED: u64 = 6;
/// Runs that need less than this are not checked.
const LITTLE: u64 = 1 << 28;

/// Refuses a run for which the disk is too small.
pub(super) fn check_disk(config: &Config, recipes: &[&'static Recipe]) -> Result<(), Failure> {
    let workspace = Workspace::new(&config.root);
    // A rebuilt stage is written next to the old one, so it needs the same space again.
    let fresh = recipes.iter().filter(|recipe| {
        let first = recipe.steps().first().map(|step| workspace.stage_folder(recipe.name, 1, step.name));
        first.is_some_and(|place| !place.join(MANIFEST).exists())
    });
    let fresh: Vec<&Recipe> = fresh.copied().collect();
    let used = |source: &&Source| {
        fresh.iter().any(|recipe| source.is_for_recipe(recipe.name, recipe.is_of_riddles()))
    };
    let dumps: u64 = config.sources.iter().filter(used).map(|source| dump_bytes(config, source)).sum();
    let needed = dumps.saturating_mul(STAGED);
    if needed < LITTLE {
        return Ok(());
    }
    // If the free space is unknown, the run may fail later.
    let Ok(free) = fs4::available_space(&config.root) else { return Ok(()) };
    if needed <= free {
        return Ok(());
    }
    Err(Failure {
        exit: Exit::Io,
        message: format!(
            "staged/ needs about {} for dumps of {}, and its disk has {} free\n  hint: make room, or put the \
             workspace on another disk; `--set run.disk_check=false` runs anyway",
            format_size(needed),
            format_size(dumps),
            format_size(free)
        ),
    })
}

/// The size of a source's dumps, decompressed.
fn dump_bytes(config: &Config, source: &Source) -> u64 {
    let Ok(paths) = list_matching_files(&config.root, &config.trust, &source.path) else { return 0 };
    paths
        .into_iter()
        .flatten()
        .filter_map(|path| {
            let meta = path.metadata().ok().filter(|meta| meta.is_file())?;
            let packed =
                path.extension().is_some_and(|end| ["gz", "zst", "bz2", "xz"].iter().any(|e| end == *e));
            Some(meta.len().saturating_mul(if packed { COMPRESSED } else { 1 }))
        })
        .sum()
}

/// Bytes for people: 3.1 GB.
fn format_size(bytes: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let (mut n, mut unit) = (bytes as f64, 0);
    // From 999.5 on, rounding would print 1000.
    while n >= 999.5 && unit + 1 < units.len() {
        (n, unit) = (n / 1000.0, unit + 1);
    }
    let digits = usize::from(unit > 0 && n < 99.95);
    format!("{n:.digits$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::format_size;

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(
            [0, 999, 1_000, 3_140_000_000, 999_999_999, 72_000_000_000_000].map(format_size),
            ["0 bytes", "999 bytes", "1.0 kB", "3.1 GB", "1.0 GB", "72.0 TB"]
        );
    }
}
