//! The status of a reviewed field, and the findings of self-checks on drafts.

/// The status of a reviewed field, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Taken from a draft that people have not reviewed yet.
    Provisional,
    /// Decided by votes of a sample.
    Synthetic,
    /// Taken from a published file; whether people agreed on it there is not known here.
    Published,
    /// Decided by people.
    Confirmed,
}

impl Standing {
    /// Every standing, the least sure first.
    pub const ALL: [Standing; 4] =
        [Standing::Provisional, Standing::Synthetic, Standing::Published, Standing::Confirmed];

    /// The value in rows.
    pub fn code(self) -> &'static str {
        match self {
            Standing::Confirmed => "confirmed",
            Standing::Published => "published",
            Standing::Provisional => "provisional",
            Standing::Synthetic => "synthetic",
        }
    }

    /// The standing of a row: as sure as the least sure of its fields. A field without a standing has not
    /// been decided by anybody.
    pub fn least<'a>(statuses: impl IntoIterator<Item = Option<&'a str>>) -> Standing {
        let standing = |status: Option<&str>| {
            let known = Standing::ALL.into_iter().find(|standing| Some(standing.code()) == status);
            known.unwrap_or(Standing::Provisional)
        };
        statuses.into_iter().map(standing).min().unwrap_or(Standing::Confirmed)
    }
}

/// The findings on one step's draft among `step: finding`, without the step's name.
pub fn flags_of(flags: &[String], step: &str) -> Vec<String> {
    let finding = |flag: &String| flag.strip_prefix(step)?.strip_prefix(": ").map(str::to_owned);
    flags.iter().filter_map(finding).collect()
}

/// Replaces the findings on one step's draft.
pub(super) fn set_flags(flags: &mut Vec<String>, step: &str, findings: impl IntoIterator<Item = String>) {
    flags.retain(|flag| !flag.strip_prefix(step).is_some_and(|rest| rest.starts_with(": ")));
    flags.extend(findings.into_iter().map(|finding| format!("{step}: {finding}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_replaced_step_by_step() {
        let mut flags = Vec::new();
        set_flags(&mut flags, "translation", ["the number 3 is lost".to_owned()]);
        set_flags(&mut flags, "pair", ["equals its question".to_owned()]);
        set_flags(&mut flags, "translation", ["is no question".to_owned()]);
        assert_eq!(flags, ["pair: equals its question", "translation: is no question"]);
        assert_eq!(flags_of(&flags, "pair"), ["equals its question"]);
    }

    #[test]
    fn a_row_is_as_sure_as_its_least_sure_field() {
        assert_eq!(Standing::least([Some("confirmed"), Some("synthetic")]), Standing::Synthetic);
        assert_eq!(Standing::least([Some("synthetic"), None]), Standing::Provisional);
        assert_eq!(Standing::least([Some("confirmed")]), Standing::Confirmed);
    }
}
