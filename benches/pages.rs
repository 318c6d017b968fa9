//! Parses the pages of WARC files and prints the cost, for `pages.py` to compare.
//!
//!     cargo bench --bench pages -- FILE.warc.gz …

use std::path::PathBuf;
use std::time::Instant;

use riddlemill::pages::{Site, import_archives};
use riddlemill::warc::RecordLimits;

fn main() {
    let files: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    let started = Instant::now();
    let found = import_archives(files, &Site::Tieba, RecordLimits::default());
    let secs = started.elapsed().as_secs_f64();
    let chars: usize =
        found.posts.iter().filter_map(|post| post.text.as_ref()).map(|text| text.chars().count()).sum();
    let seen = serde_json::json!({ "secs": secs, "pages": found.pages.len(), "posts": found.posts.len(), "chars": chars });
    println!("{seen}");
}
