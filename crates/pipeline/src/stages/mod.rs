//! The stages: functions from typed rows to outcomes. A stage neither reads another's folder
//! nor calls another. [`Stage`] is what the program asks of each, [`job`] drives them, and [`rule`] has what stands above a rule.

pub mod apply;
mod context;
mod declared;
mod dedup;
pub mod draft;
pub mod embed;
mod embed_posts;
pub mod import;
mod job;
mod judging;
mod line_error;
pub mod native;
mod overrule;
pub mod published;
pub mod respond;
pub mod review;
mod rule;
pub mod salt;
pub mod same_joke;
mod seconds;
mod selecting;
mod stage;
pub mod subject;
mod texts;
pub mod withdrawal;
mod written;

pub use context::{About, JoinProgress, NewRows, Pulse, StageError, StageRows, Stop, Unusable};
pub(crate) use declared::find_step_problem;
pub use dedup::{DiskSpill, NearPair, OnDiskError, Output, apply_on_disk, dedup_posts, parted};
pub use draft::DraftStep;
pub use embed::Embeds;
pub use embed_posts::{Embedding, NEAR, NearEmbeddings};
pub use job::{Job, PeopleLogs, StageInput, StepContext};
pub use judging::Judging;
pub use review::ReviewStep;
pub use riddlemill_text::offline::dedup::{SimilarPair, measure_witness, similar_pairs};
pub use riddlemill_text::offline::{Anonymise, Lists, clean_post, filter_post};
pub use seconds::Seconds;
pub use stage::{ByEndpoint, Stage};
pub use subject::{DraftItem, GROUPS, read_subjects};
pub use texts::{anonymise_stage, policy_lists};

use declared::{Choosing, Marking};
use dedup::stage::Deduplicating;
use draft::step::Drafting;
use import::step::Importing;
use review::step::Reviewing;
use riddlemill_benchmarks::{Benchmark, Step, StepKind};
use selecting::{Selecting, Splitting};
use texts::{Anonymising, Cleaning, Filtering};

/// The codes of every reason and rule, those of benchmarks' folders among them.
pub fn reason_codes() -> impl Iterator<Item = &'static str> {
    use riddlemill_text::text::clean::Rule;
    let reasons = riddlemill_record::Reason::ALL.iter().map(|reason| reason.code());
    let own = riddlemill_benchmarks::all_benchmarks()
        .iter()
        .flat_map(|benchmark| benchmark.own_reasons())
        .map(|own| own.code);
    reasons.chain(Rule::ALL.iter().map(|rule| rule.code())).chain(own)
}

/// What a reason or a rule means, by its code in a ledger.
pub fn define_code(code: &str) -> Option<&'static str> {
    use riddlemill_text::text::clean::Rule;
    let rule = || Rule::ALL.iter().find(|r| r.code() == code).map(|r| r.definition());
    reason_of_code(code).map(riddlemill_record::Reason::definition).or_else(rule)
}

/// The reason of a code in a ledger: the program's, or what a benchmark's folder says.
pub fn reason_of_code(code: &str) -> Option<riddlemill_record::Reason> {
    use riddlemill_record::Reason;
    Reason::from_code(code).or_else(|| riddlemill_benchmarks::find_reason(code).map(Reason::Own))
}

/// The stage that a benchmark's folder declares for a step; `None` if there is no code for it.
pub fn declared_stage(benchmark: &'static Benchmark, step: &Step) -> Option<Box<dyn Stage>> {
    Some(match step.kind {
        StepKind::Import => Box::new(Importing),
        StepKind::Clean => Box::new(Cleaning),
        StepKind::Anonymise => match benchmark.marked.iter().find(|marked| marked.name == step.name) {
            Some(marked) => Box::new(Marking(marked)),
            None => Box::new(Anonymising),
        },
        StepKind::Filter => Box::new(Filtering),
        StepKind::Dedup => Box::new(Deduplicating),
        StepKind::Options => {
            Box::new(Choosing(benchmark.options.iter().find(|options| options.name == step.name)?))
        }
        StepKind::Draft(_) => Box::new(Drafting(DraftStep::find_draft(benchmark, step.name)?)),
        StepKind::Ballot(name) => Box::new(Reviewing(ReviewStep::new(benchmark.find_ballot(name)?))),
        StepKind::Select => {
            Box::new(Selecting(benchmark.selects.iter().find(|select| select.name == step.name)?))
        }
        StepKind::Elements => {
            Box::new(Splitting(benchmark.elements.iter().find(|elements| elements.name == step.name)?))
        }
        StepKind::Native(_) => {
            native::stage_of_step(benchmark.natives.iter().find(|native| native.name == step.name)?)?
        }
    })
}

/// Whether records of a benchmark have a type in Rust, and are not what its folder declares.
pub(crate) fn has_records_of_its_own(benchmark: &Benchmark) -> bool {
    benchmark.records.is_some()
}
