//! Rows in a common form: groups of a puzzle and its two reconstructions, by their ids, and published rows converted back into
//! columns.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::layout::{self, Layout};
use crate::read_rows::JsonRow;

/// How many groups of the reference are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupFigures {
    /// Groups in the reference.
    pub reference: u64,
    /// Groups whose items are all found in one group of the set.
    pub whole: u64,
    /// Groups whose items are partly found.
    pub part: u64,
    /// Groups without any found item.
    pub missing: u64,
}

/// An item's role in its group; without groups all are originals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    #[default]
    Original,
    Semantic,
    Context,
}

impl Role {
    /// Splits an id such as `SP-12_SR` into the group's name and the role.
    fn split_id(id: &str) -> (&str, Role) {
        match id.rsplit_once('_') {
            Some((group, "SR")) => (group, Role::Semantic),
            Some((group, "CR")) => (group, Role::Context),
            _ => (id, Role::Original),
        }
    }
}

/// The groups of both sides; empty if one of them has none.
#[derive(Debug, Default)]
pub(super) struct Groups {
    theirs: Vec<(String, Role)>,
    ours: Vec<(String, Role)>,
}

impl Groups {
    pub(super) fn pair_up(reference: &[JsonRow], rows: &[JsonRow]) -> Groups {
        let of = |rows: &[JsonRow]| -> Vec<(String, Role)> {
            let id = |row: &JsonRow| row.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
            rows.iter()
                .map(id)
                .map(|id| {
                    let (group, role) = Role::split_id(&id);
                    (group.to_owned(), role)
                })
                .collect()
        };
        let (theirs, ours) = (of(reference), of(rows));
        let grouped = |side: &[(String, Role)]| side.iter().any(|(_, role)| *role != Role::Original);
        if grouped(&theirs) && grouped(&ours) { Groups { theirs, ours } } else { Groups::default() }
    }

    pub(super) fn role_of_theirs(&self, at: usize) -> Role {
        self.theirs.get(at).map(|(_, role)| *role).unwrap_or_default()
    }

    pub(super) fn role_of_ours(&self, at: usize) -> Role {
        self.ours.get(at).map(|(_, role)| *role).unwrap_or_default()
    }

    /// Extends matches of items to matches of groups: two groups match if most of their items were matched
    /// with each other, and then each item is matched with its counterpart, however that is worded.
    pub(super) fn extend_to_groups(&self, found: &mut [Option<usize>]) {
        let mut shared: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (theirs, ours) in found.iter().enumerate().filter_map(|(at, ours)| Some((at, (*ours)?))) {
            let (Some((theirs, _)), Some((ours, _))) = (self.theirs.get(theirs), self.ours.get(ours)) else {
                return;
            };
            *shared.entry((theirs, ours)).or_default() += 1;
        }
        let mut pairs: Vec<_> = shared.into_iter().collect();
        pairs.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let (mut theirs_taken, mut one) = (BTreeSet::new(), BTreeMap::new());
        for ((theirs, ours), _) in pairs {
            if !theirs_taken.contains(theirs) && !one.contains_key(ours) {
                theirs_taken.insert(theirs);
                one.insert(ours, theirs);
            }
        }
        let mut counterpart: BTreeMap<(&str, Role), usize> = BTreeMap::new();
        for (at, (group, role)) in self.ours.iter().enumerate() {
            if let Some(theirs) = one.get(group.as_str()) {
                counterpart.entry((theirs, *role)).or_insert(at);
            }
        }
        for (at, (group, role)) in self.theirs.iter().enumerate() {
            found[at] = counterpart.get(&(group.as_str(), *role)).copied();
        }
    }

    pub(super) fn group_figures(&self, found: &[Option<usize>]) -> Option<GroupFigures> {
        if self.theirs.is_empty() {
            return None;
        }
        let mut by_group: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for ((group, _), found) in self.theirs.iter().zip(found) {
            let (items, of_them) = by_group.entry(group).or_default();
            *items += 1;
            *of_them += u64::from(found.is_some());
        }
        let mut figures = GroupFigures { reference: by_group.len() as u64, ..GroupFigures::default() };
        for (items, found) in by_group.into_values() {
            match found {
                0 => figures.missing += 1,
                found if found == items => figures.whole += 1,
                _ => figures.part += 1,
            }
        }
        Some(figures)
    }
}

/// The form of a row.
#[derive(Clone, Copy, PartialEq)]
enum RowForm {
    /// The columns of a release.
    Columns,
    /// A published object.
    Published,
    /// Neither.
    Other,
}

/// Converts published rows back into columns if the other side has columns, and removes from the latter what
/// the published form lacks. Two sides of the same form are unchanged.
pub fn same_form(rows: &mut [JsonRow], reference: &mut [JsonRow]) {
    match (form_of_rows(rows), form_of_rows(reference)) {
        (RowForm::Columns, RowForm::Published) => to_columns(reference),
        (RowForm::Published, RowForm::Columns) => to_columns(rows),
        _ => {}
    }
}

fn form_of_rows(rows: &[JsonRow]) -> RowForm {
    let Some(first) = rows.first() else { return RowForm::Other };
    let is_of = |layout: &Layout| layout.columns.iter().all(|column| first.contains_key(column.name));
    if layout::finished_layouts().any(is_of) {
        return RowForm::Columns;
    }
    if rows.iter().any(|row| layout::from_published(row).is_some()) {
        RowForm::Published
    } else {
        RowForm::Other
    }
}

/// Rows that cannot be converted are unchanged and are matched by their texts.
fn to_columns(rows: &mut [JsonRow]) {
    for row in rows {
        let Some((layout, made)) = layout::from_published(row) else { continue };
        let stand_ins = layout.stand_ins();
        let columns = layout.columns.iter().zip(made.0);
        let stated = columns.filter(|(column, value)| stand_ins.get(column.name) != Some(value));
        *row = stated.map(|(column, value)| (column.name.to_owned(), value.to_json())).collect();
    }
}
