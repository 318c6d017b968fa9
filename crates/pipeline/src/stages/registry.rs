//! Which stage is which step of a benchmark's folder.

use super::context::Rows;
use super::declared::{Choosing, Marking};
use super::dedup::step::Deduplicating;
use super::draft::Draft;
use super::draft::step::Drafting;
use super::import::step::Importing;
use super::native;
use super::options::Ordering;
use super::review::Review;
use super::review::step::Reviewing;
use super::selecting::{Selecting, Splitting};
use super::stage::Stage;
use super::texts::{Anonymising, Cleaning, Filtering};
use riddlemill_benchmarks::{Benchmark, Kind, Step};

/// The stage that a benchmark's folder declares for a step; `None` if there is no code for it.
pub fn declared(benchmark: &'static Benchmark, step: &Step) -> Option<Box<dyn Stage>> {
    let own = has_records_of_its_own(benchmark);
    Some(match step.kind {
        Kind::Import => Box::new(Importing),
        Kind::Clean => Box::new(Cleaning),
        Kind::Anonymise => match benchmark.marked.iter().find(|marked| marked.name == step.name) {
            Some(marked) => Box::new(Marking(marked)),
            None => Box::new(Anonymising),
        },
        Kind::Filter => Box::new(Filtering),
        Kind::Dedup => Box::new(Deduplicating),
        Kind::Options if own => Box::new(Ordering(Rows::of_kind(step.records))),
        Kind::Options => {
            Box::new(Choosing(benchmark.options.iter().find(|options| options.name == step.name)?))
        }
        Kind::Draft(_) => Box::new(Drafting(Draft::find(benchmark, step.name)?)),
        Kind::Ballot(name) => Box::new(Reviewing(Review::new(benchmark.ballot(name)?))),
        Kind::Select => {
            Box::new(Selecting(benchmark.selects.iter().find(|select| select.name == step.name)?))
        }
        Kind::Elements => {
            Box::new(Splitting(benchmark.elements.iter().find(|elements| elements.name == step.name)?))
        }
        Kind::Native(_) => native::stage(benchmark.natives.iter().find(|native| native.name == step.name)?)?,
    })
}

/// Whether records of a benchmark have a type in Rust, and are not what its folder declares.
pub(crate) fn has_records_of_its_own(benchmark: &Benchmark) -> bool {
    benchmark.records.is_some()
}
