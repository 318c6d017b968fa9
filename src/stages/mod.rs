//! The stages: functions from typed rows to outcomes. None reads another's folder, none calls
//! another; `pipeline` feeds them and writes what they say.

mod anonymise;
mod clean;
mod dedup;
mod filter;
pub mod import;
mod stage;

pub use anonymise::anonymise;
pub use clean::clean;
pub use dedup::{Duplicates, NearPair, dedup};
pub use filter::filter;
pub use stage::{Pulse, Stage, StageError, Stop};
