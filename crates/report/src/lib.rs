//! What people ask about a workspace, each answer a struct that is made once: `--json` writes it as it is, verbs and pages put it
//! into words.
//!
//! # In reading order
//!
//! - [`report_status`]: the state of each recipe and its stages; [`next()`]: what to do now, and what waits.
//! - [`explain_name`]: one record's path; [`show_stage`]: records of a stage; [`recipe_report`]: how many records each stage left.
//! - [`report_reviews`]: votes and their agreement. `desk`: what people handed in or decided. `release`: versions.
//! - `estimate`: what requests would cost. `settings`: settings with their origin. `look`: what is found on a page.
//! - [`fsck()`]: whether raw/ is intact.

mod desk;
mod estimate;
mod explain;
mod fsck;
mod look;
mod next;
mod release;
mod review;
mod settings;
mod show;
mod status;

pub use desk::{BallotReceipt, CarryReport, DecisionRow, DisputeRow, TableReceipt, TrialRow};
pub use estimate::{ForecastLine, ImaginedCost, RequestCost, forecast_lines, imagined_costs};
pub use explain::{Explanation, OtherRecord, WithdrawnRecord, complete_explanation, explain_name};
pub use fsck::{Checked, Finding, fsck};
pub use look::PageFinding;
pub use next::{CauseRow, KeptBack, Next, RecipeState, kept_back, next};
pub use release::{ReleasedVersion, YankedVersion};
pub use review::{AgreementRow, AnnotatorRow, ReviewReport, ReviewStatus, report_reviews};
pub use settings::{
    ExplainedRecipe, ExplainedTable, KeyDefault, KeyRow, SettingRow, SettingsReport, TableRow,
};
pub use show::{ShownRows, ShownStage, show_stage};
pub use status::{
    BuiltCandidate, CrawlAge, EndpointOrigins, Examples, OriginSince, RecipeReport, RecipeStatus,
    StageStatus, Status, crawl_dirs, recipe_report, report_status,
};

use riddlemill_harvest::{crawl, pages, warc};
use riddlemill_llm as llm;
use riddlemill_pipeline::{config, pipeline, recipe, search, stages};
use riddlemill_record as record;
use riddlemill_release::audit;
use riddlemill_review::decisions;
use riddlemill_tables as store;
use riddlemill_text::{shortcuts, text};

/// A count with thousands separators: 81700 as 81,700.
pub fn format_count(n: u64) -> String {
    text::group_digits(i64::try_from(n).unwrap_or(i64::MAX))
}

pub use text::count_with_noun as count;
