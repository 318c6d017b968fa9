//! SPDX identifiers of licences, with suggestions for invalid ones.

use riddlemill_schema::{Form, ValueHint};
use serde_json::Value;
use spdx::{Expression, License, flags, identifiers};

use super::near_miss;

/// A licence's identifier, or empty.
pub(super) const LICENCE: Form = Form {
    expected: "an SPDX identifier, or \"LicenseRef-…\" for a licence that has none",
    check: check_licence,
    is_text: true,
};

fn check_licence(value: &Value) -> Result<(), ValueHint> {
    match value.as_str() {
        Some("") => Ok(()),
        Some(text) => check_expression(text).map_err(ValueHint::from_nearest),
        None => Err(ValueHint::Nothing),
    }
}

/// Whether a text is an SPDX expression: `CC-BY-4.0`, `MIT OR Apache-2.0`, `LicenseRef-forum`.
///
/// # Errors
/// A suggestion, if one is close.
fn check_expression(text: &str) -> Result<(), Option<&'static str>> {
    Expression::parse(text).map(drop).map_err(|_| near_identifier(text))
}

/// The identifier of a licence written differently: `CC BY 4.0`, `apache 2`, `GPL-3.0`, `MIT License`.
fn near_identifier(written: &str) -> Option<&'static str> {
    let bare = |text: &str| -> String {
        text.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
    };
    let written = bare(written);
    if written.is_empty() {
        return None;
    }
    let current = || identifiers::LICENSES.iter().filter(|licence| licence.flags & flags::IS_DEPRECATED == 0);
    let whole = |licence: &&License| bare(licence.name) == written || bare(licence.full_name) == written;
    let begun = |licence: &&License| {
        bare(licence.name).starts_with(&written) || bare(licence.full_name).starts_with(&written)
    };
    let found = current().find(whole).or_else(|| {
        // Of several versions the newest, which is the last; "only" comes before "or-later".
        current().filter(begun).max_by_key(|licence| std::cmp::Reverse(licence.name.len()))
    });
    found.map(|licence| licence.name).or_else(|| {
        // Of several that are as near the newest.
        let names: Vec<(String, &str)> = current().rev().map(|l| (bare(l.name), l.name)).collect();
        let close = near_miss(&written, names.iter().map(|(name, _)| name.as_str()))?;
        names.iter().find(|(name, _)| name == close).map(|(_, name)| *name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_identifier_has_a_near_one() {
        for right in ["CC0-1.0", "CC-BY-4.0", "MIT OR Apache-2.0", "GPL-3.0-only", "LicenseRef-forum"] {
            assert_eq!(check_expression(right), Ok(()), "{right}");
        }
        for (wrong, meant) in [
            ("CC BY 4.0", Some("CC-BY-4.0")),
            ("cc-by-4.0", Some("CC-BY-4.0")),
            ("CC BY", Some("CC-BY-4.0")),
            ("GPL-3.0", Some("GPL-3.0-only")),
            ("Apache 2", Some("Apache-2.0")),
            ("MIT License", Some("MIT")),
            ("CC-BY-SA-4,0", Some("CC-BY-SA-4.0")),
            ("CC-BX-4.0", Some("CC-BY-4.0")),
            ("CC-BY-5.0", Some("CC-BY-4.0")),
            ("ask the forum", None),
            ("？", None),
            ("", None),
        ] {
            assert_eq!(check_expression(wrong), Err(meant), "{wrong}");
        }
    }
}
