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
    Bar, Figures, Funnel, FunnelStage, LENGTH_BIN, LikenessChart, compute_figures, likeness_of,
    place_of_score, read_funnel,
};
pub use evidence::{Detail, evidence_details};
pub use explain::{Explained, StageEntry, explain_record, fill_texts, last_passages, raw_post};
pub use figures::{declared_tables, figure_files};
pub use page::render_audit_page;
pub use prove::{Gap, Proof, prove_freshness, prove_stages};
pub use published::{KeptPost, LetThrough, PublishedReport, examine_published, published_page};
pub use resolve::{NamedAt, NamedRecord, OtherReading, Reading, Resolution, Resolver};
pub use show::{
    NearTexts, Piece, PieceSide, Query, Shown, borderline_pairs, diff_texts, draw_examples, show_records,
};
pub use sources::{FoundPost, RowWithoutPost};
pub use tables::{Report, Reviewed, tables, voted_lines};
pub use ways::{MadeStage, RowPath, Stretch, find_ways};
pub use whereabouts::{Ending, RecordEnding, find_whereabouts, follow_fates};
