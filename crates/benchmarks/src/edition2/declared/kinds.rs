//! Values that several keys have.

use riddlemill_schema::{Key, Kind};

pub(super) const fn key(name: &'static str, kind: Kind, doc: &'static str) -> Key {
    Key::new(name, kind, doc)
}

pub(super) const TEXT: Kind = Kind::Text;
pub(super) const FLAG: Kind = Kind::Flag;
pub(super) const COUNT: Kind = Kind::Whole(0, i64::MAX);
pub(super) const WHOLE: Kind = Kind::Whole(i64::MIN, i64::MAX);
pub(super) const NUMBER: Kind = Kind::Number(f64::MIN, f64::MAX);
pub(super) const TEXTS: Kind = Kind::List(&Kind::Text);
pub(super) const TEXT_OR_TEXTS: Kind = Kind::Either(&[TEXT, TEXTS]);
/// NAME = expression.
pub(super) const NAMED: Kind = Kind::Each(&Kind::Text);
pub(super) const SIDES: &[Key] = &[Key::required("en", TEXT, "In English."), key("zh", TEXT, "In Chinese.")];
/// A text for people, in one language or in both.
pub(super) const LABEL: Kind = Kind::Either(&[TEXT, Kind::Table(SIDES)]);
/// A text for people, or several that belong together: a label and its meaning.
pub(super) const PARTS: Kind = Kind::Either(&[TEXT, Kind::Table(SIDES), Kind::List(&LABEL)]);
/// Conditions, each with a sentence.
pub(super) const SENTENCES: Kind = Kind::List(&Kind::List(&LABEL));
pub(super) const ROLES: Kind = Kind::List(&ROLE);
pub(super) const ROLE: Kind = Kind::Choice(&["annotator", "junior", "senior", "meta"]);
