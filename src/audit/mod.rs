//! Proving from the files alone that nothing was lost, and telling one record's whole way.

mod charts;
mod evidence;
mod explain;
mod funnel;
mod like;
mod page;
mod prove;
mod show;
mod tables;

pub use charts::{Bar, Figures, Likeness, figures, likeness_of};
pub use evidence::{Detail, details};
pub use explain::{Books, Explained, OnDisk, Passage, explain, explain_by, find};
pub use funnel::{Funnel, FunnelStage, funnel};
pub use page::page;
pub use prove::{Gap, Proof, prove};
pub use show::{Near, Piece, Query, Shown, Side, borderline, diff, examples, show};
pub use tables::{
    Agreement, Category, ChoiceTables, Drawn, ErrorShare, GapBar, JokeTables, Length, Opponent, PuzzleKind,
    PuzzleTables, QuestionTables, Reviewed, Tables, TextTables, TypeCount, tables,
};
