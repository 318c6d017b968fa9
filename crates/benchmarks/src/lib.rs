//! What each benchmark declares. A benchmark is a folder, `src/benchmarks/<name>`:
//!
//! - `benchmark.toml`: what it is, its steps in order, its choices over the defaults, its paper and how it differs;
//! - `ballots.toml`: what people are asked, in both languages, and the rule that decides;
//! - `prompts/*.jinja`: what models are asked.
//!
//! # In reading order
//!
//! - [`reader`]: TOML read whole, every problem with its place.
//! - [`ballot`]: what a ballot is made of; [`ballots`]: how it is written. [`paper`]: the published set.
//! - [`expression`]: what is computed over a record or a row; [`data`]: what is released, and the published form of it.
//! - [`benchmark`]: a folder.
//! - Here: the benchmarks that are built in.

use std::sync::LazyLock;

pub mod ballot;
pub mod ballots;
pub mod benchmark;
pub mod data;
pub mod expression;
pub mod paper;
pub mod reader;

pub use benchmark::{Benchmark, Kind, Prompt, Step};
pub use data::Data;
pub use expression::{Expression, Trouble};
pub use paper::{Difference, Paper};
pub use reader::{Problem, Problems};

/// The files of the built-in folders, by `<benchmark>/<path>`, in the order of their paths.
static FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

static ALL: LazyLock<Vec<Benchmark>> = LazyLock::new(|| {
    benchmark::load(&folders()).unwrap_or_else(|problems| unreachable!("a test reads them: {problems}"))
});

/// The benchmarks that are built in, in the order in which lists name them.
pub fn all() -> &'static [Benchmark] {
    &ALL
}

/// A benchmark by its name.
pub fn find(name: &str) -> Option<&'static Benchmark> {
    all().iter().find(|benchmark| benchmark.name == name)
}

/// The built-in folders, each with its files.
fn folders() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut folders: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for (path, text) in FILES {
        let Some((folder, file)) = path.split_once('/') else { continue };
        match folders.last_mut().filter(|(last, _)| *last == folder) {
            Some((_, files)) => files.push((file, text)),
            None => folders.push((folder, vec![(file, text)])),
        }
    }
    folders
}

#[cfg(test)]
mod tests;
