//! Inter-annotator agreement: percent, Cohen's and weighted kappa, Fleiss' kappa, Krippendorff's alpha,
//! Gwet's AC1, bootstrap intervals, and how often drafts are edited.
//!
//! An undefined coefficient (no item with two votes, or only one category ever used) is `None`, never 0 or 1.

mod bootstrap;
mod coefficients;
pub mod exact;
#[cfg(test)]
mod margins;
mod pooled;
mod report;
#[cfg(test)]
mod tests;
mod units;

pub use bootstrap::{Bootstrap, Estimate};
pub use coefficients::{
    Coefficient, Confusion, Weights, fleiss_kappa, gwet_ac1, krippendorff_alpha, percent_agreement,
};
pub use pooled::{Pooled, pool_questions};
pub use report::{
    AgreementSettings, AnnotatorAgreement, Edits, FieldAgreement, PairAgreement, StepAgreement, Undefined,
    measure_agreement, step_agreement,
};
pub use units::{Level, Units};
