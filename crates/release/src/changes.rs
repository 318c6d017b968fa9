//! The changes from one release to the next, as listed in the change log.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::manifest::{IdSample, Yanked};
use super::row::Row;
use super::version::Bump;

/// One release in the change log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Changes {
    /// The version; empty before it is assigned.
    pub version: String,
    /// The day.
    pub date: String,
    /// The release it is compared with; `None` for the first.
    pub since: Option<String>,
    /// Rows that are new.
    pub added: IdSample,
    /// Rows with other values.
    pub changed: IdSample,
    /// Rows that were removed.
    pub removed: IdSample,
    /// Whether unchanged rows are in another order.
    pub moved: bool,
    /// The licences of the set and of its sources, if they differ from those of the release before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// When the version was yanked, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yanked: Option<Yanked>,
}

/// A set's rows as digests, enough to compare two releases: the id and 24 bytes per row.
#[derive(Debug, Default)]
pub struct Digests {
    rows: FxHashMap<String, (u64, blake3::Hash)>,
    order: Vec<String>,
}

impl Digests {
    /// Adds the rows of a config, in order. Ids of different configs are separate.
    pub fn add(&mut self, config: &str, rows: &[Row], layout: &super::layout::Layout) {
        let mut json = Vec::new();
        for row in rows {
            json.clear();
            // Writing into a vector cannot fail.
            let _ = row.write_json(layout, &mut json);
            self.add_line(config, row.id(), &json);
        }
    }

    /// Adds one row as its released line of JSON, including the line break.
    pub fn add_line(&mut self, config: &str, id: &str, line: &[u8]) {
        let id = format!("{config}\u{1f}{id}");
        self.rows.insert(id.clone(), (self.order.len() as u64, blake3::hash(line)));
        self.order.push(id);
    }

    /// The rows added, changed and removed in `self` since `before`.
    pub fn changes_since(&self, before: &Digests) -> Changes {
        let mut changes = Changes::default();
        let mut last = None;
        for id in &self.order {
            match (before.rows.get(id), self.rows.get(id)) {
                (None, _) => changes.added.add(strip_config(id)),
                (Some((place, old)), new) => {
                    if new.is_none_or(|(_, new)| new != old) {
                        changes.changed.add(strip_config(id));
                    }
                    changes.moved |= last.is_some_and(|last| *place < last);
                    last = Some(*place);
                }
            }
        }
        for id in before.order.iter().filter(|id| !self.rows.contains_key(*id)) {
            changes.removed.add(strip_config(id));
        }
        changes
    }

    /// The ids removed in `self` since `before`, without their config.
    pub fn retired_ids(&self, before: &Digests) -> BTreeSet<String> {
        before
            .order
            .iter()
            .filter(|id| !self.rows.contains_key(*id))
            .map(|id| strip_config(id).to_string())
            .collect()
    }
}

fn strip_config(id: &str) -> &str {
    id.split_once('\u{1f}').map_or(id, |(_, id)| id)
}

impl Changes {
    /// How the version must be increased.
    pub fn required_bump(&self) -> Bump {
        if self.changed.count + self.removed.count > 0 || self.moved {
            Bump::Major
        } else if self.added.count > 0 {
            Bump::Minor
        } else {
            Bump::Patch
        }
    }

    /// The changes in a sentence.
    pub fn describe(&self) -> String {
        let counts =
            [(self.added.count, "added"), (self.changed.count, "changed"), (self.removed.count, "removed")];
        let mut parts: Vec<String> = counts.iter().map(|(n, what)| format!("{n} {what}")).collect();
        if self.moved {
            parts.push("order changed".into());
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::layout_of_posts;
    use crate::row::Value;

    fn digests(rows: &[(&str, &str)]) -> Digests {
        let layout = layout_of_posts("flub");
        let row = |(id, text): &(&str, &str)| {
            let mut values = vec![Value::Null; layout.columns.len()];
            values[0] = id.to_string().into();
            values[1] = text.to_string().into();
            Row(values)
        };
        let mut digests = Digests::default();
        digests.add("flub", &rows.iter().map(row).collect::<Vec<_>>(), &layout);
        digests
    }

    #[test]
    fn the_bump_follows_from_what_happened_to_old_rows() {
        let old = [("a", "1"), ("b", "2"), ("c", "3")];
        for (new, bump) in [
            (vec![("a", "1"), ("b", "2"), ("c", "3")], Bump::Patch),
            (vec![("a", "1"), ("n", "9"), ("b", "2"), ("c", "3")], Bump::Minor),
            (vec![("a", "1"), ("b", "2"), ("c", "other")], Bump::Major),
            (vec![("a", "1"), ("b", "2"), ("d", "4")], Bump::Major),
            (vec![("b", "2"), ("a", "1"), ("c", "3")], Bump::Major),
        ] {
            assert_eq!(digests(&new).changes_since(&digests(&old)).required_bump(), bump, "{new:?}");
        }
        let changes = digests(&[("c", "3"), ("a", "x"), ("n", "9")]).changes_since(&digests(&old));
        assert_eq!(changes.describe(), "1 added, 1 changed, 1 removed, order changed");
        assert_eq!(changes.removed.first, ["b"]);
    }
}
