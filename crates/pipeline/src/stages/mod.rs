//! The stages: functions from typed rows to outcomes. A stage neither reads another's folder
//! nor calls another. [`Stage`] is what the program asks of each, [`job`] drives them, and [`rule`] has what stands above a rule.

mod anonymise;
pub mod apply;
mod commit;
mod context;
mod declared;
mod dedup;
pub mod draft;
mod each;
pub mod embed;
mod embed_posts;
pub mod import;
mod job;
mod judging;
mod line_error;
pub mod native;
mod options;
mod overrule;
pub mod published;
mod registry;
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
mod unusable;
pub mod withdrawal;

pub use anonymise::{anonymise_stage, policy_lists};
pub use commit::NewRows;
pub use context::{About, Pulse, Rows, StageError, Stop, Waiting};
pub(crate) use declared::lacking;
pub use dedup::{NearPair, OnDisk, OnDiskError, Output, apply_on_disk, dedup, parted};
pub use draft::Draft;
pub use embed::Embeds;
pub use embed_posts::{Embedding, NEAR, NearEmbeddings};
pub use job::{Input, Job, PeopleLogs, StepContext};
pub use judging::Judging;
pub use registry::declared as declared_stage;
pub(crate) use registry::has_records_of_its_own;
pub use review::Review;
pub use seconds::Seconds;
pub use stage::{ByEndpoint, Stage};
pub use subject::{DraftItem, GROUPS, subjects};
pub use unusable::Unusable;

pub use riddlemill_text::offline::dedup::{SimilarPair, similar_pairs, witness};
pub use riddlemill_text::offline::{Anonymise, Lists, clean, filter};

/// The codes of every reason and rule, those of benchmarks' folders among them.
pub fn reasons() -> impl Iterator<Item = &'static str> {
    use riddlemill_text::text::clean::Rule;
    let reasons = riddlemill_record::Reason::ALL.iter().map(|reason| reason.code());
    let own =
        riddlemill_benchmarks::all().iter().flat_map(|benchmark| benchmark.reasons()).map(|own| own.code);
    reasons.chain(Rule::ALL.iter().map(|rule| rule.code())).chain(own)
}

/// What a reason or a rule means, by its code in a ledger.
pub fn definition(code: &str) -> Option<&'static str> {
    use riddlemill_text::text::clean::Rule;
    let rule = || Rule::ALL.iter().find(|r| r.code() == code).map(|r| r.definition());
    reason(code).map(riddlemill_record::Reason::definition).or_else(rule)
}

/// The reason of a code in a ledger: the program's, or what a benchmark's folder says.
pub fn reason(code: &str) -> Option<riddlemill_record::Reason> {
    use riddlemill_record::Reason;
    Reason::from_code(code).or_else(|| riddlemill_benchmarks::reason(code).map(Reason::Own))
}
