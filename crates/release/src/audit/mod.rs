//! Proves from the files that every record is accounted for, and explains one record's path.

mod charts;
pub mod chinese;
mod evidence;
mod explain;
mod figures;
mod page;
mod prove;
mod published;
mod resolve;
mod show;
mod sources;
mod tables;
mod texts;
mod ways;
mod whereabouts;

pub use charts::{
    Bar, Figures, Funnel, FunnelStage, LENGTH_BIN, Likeness, figures, funnel, likeness_of, place_of_score,
};
pub use evidence::{Detail, details};
pub use explain::{Explained, Passage, compare, explain, last_passages, raw_post};
pub use figures::{declared_tables, figure_files};
pub use page::page;
pub use prove::{Gap, Proof, follows, prove};
pub use published::{KeptPost, LetThrough, PublishedReport, published, published_page};
pub use resolve::{NamedAt, NamedRecord, OtherReading, Reading, Resolution, Resolver};
pub use show::{Near, Piece, Query, Shown, Side, borderline, diff, examples, show};
pub use sources::{FoundPost, RowWithoutPost};
pub use tables::{Report, Reviewed, tables, voted_lines};
pub use ways::{Made, Stretch, Way, ways};
pub use whereabouts::{Ending, Whereabouts, fates, whereabouts};
