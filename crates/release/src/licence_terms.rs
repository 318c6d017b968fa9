//! Whether the licence of a source allows that rows made from it are released under another one: for the licences of data
//! that say so in their names, and the common copyleft ones. What a `LicenseRef-` or a rarer licence allows is for the curator
//! to know.

use spdx::Expression;
use spdx::LicenseReq;

/// Licences that ask for nothing.
const PUBLIC_DOMAIN: [&str; 7] =
    ["CC0-1.0", "PDDL-1.0", "Unlicense", "0BSD", "WTFPL", "CC-PDDC", "CC-PDM-1.0"];

/// Copyleft licences by the beginning of their identifiers, with those of the licences under which a whole may be.
const COPYLEFT: [(&str, &[&str]); 6] = [
    ("AGPL-", &["AGPL-"]),
    ("LGPL-", &["LGPL-", "GPL-", "AGPL-"]),
    ("GPL-", &["GPL-", "AGPL-"]),
    ("GFDL-", &["GFDL-"]),
    ("ODbL-", &["ODbL-"]),
    ("CDLA-Sharing-", &["CDLA-Sharing-"]),
];

/// Why rows of a source under the first SPDX expression must not be released under the second; `None` if they may, or if that
/// does not follow from the names.
pub(super) fn forbids(source: &str, whole: &str) -> Option<String> {
    let (of_source, of_whole) = (Expression::parse(source).ok()?, Expression::parse(whole).ok()?);
    let mut why = None;
    let allowed = of_source.evaluate(|source| {
        // Whoever gets the whole may choose any of its alternatives, so the source has to allow each of them.
        let refused = of_whole.evaluate(|whole| match refusal(source, whole) {
            Some(reason) => {
                why = Some(reason);
                true
            }
            None => false,
        });
        !refused
    });
    if allowed { None } else { why }
}

/// Why one licence does not allow another one for what is made from it.
fn refusal(source: &LicenseReq, whole: &LicenseReq) -> Option<String> {
    let (source, whole) = (source.license.id()?.name, whole.license.id()?.name);
    if source.contains("-ND") {
        return Some(format!("{source} forbids passing on what was adapted, as rows of a benchmark are"));
    }
    if source == whole {
        return None;
    }
    if source.contains("-NC") && !whole.contains("-NC") {
        return Some(format!("{source} forbids commercial use, which {whole} allows"));
    }
    let shares = |id: &str| id.starts_with("CC-") && id.contains("-SA");
    let to_gpl = source == "CC-BY-SA-4.0" && whole.starts_with("GPL-3.0");
    let like = shares(whole) && source.contains("-NC") == whole.contains("-NC");
    if shares(source) && !like && !to_gpl {
        return Some(format!(
            "{source} asks for the same licence for what is made from it, which {whole} is not"
        ));
    }
    if let Some((_, under)) = COPYLEFT.iter().find(|(name, _)| source.starts_with(name))
        && !under.iter().any(|name| whole.starts_with(name))
    {
        return Some(format!(
            "{source} asks for the same licence for what is made from it, which {whole} is not"
        ));
    }
    (PUBLIC_DOMAIN.contains(&whole) && !PUBLIC_DOMAIN.contains(&source))
        .then(|| format!("{source} asks for attribution or its notice, which {whole} waives"))
}

#[cfg(test)]
mod tests {
    use super::forbids;

    #[test]
    fn a_licence_forbids_what_its_name_says() {
        for (source, whole) in [
            ("CC-BY-NC-4.0", "CC0-1.0"),
            ("CC-BY-NC-4.0", "CC-BY-4.0"),
            ("CC-BY-NC-4.0", "MIT OR CC-BY-NC-4.0"),
            ("CC-BY-ND-4.0", "CC-BY-ND-4.0"),
            ("CC-BY-SA-4.0", "CC-BY-4.0"),
            ("CC-BY-NC-SA-4.0", "CC-BY-NC-4.0"),
            ("CC-BY-SA-4.0", "CC-BY-NC-SA-4.0"),
            ("CC-BY-4.0", "CC0-1.0"),
            ("MIT AND CC-BY-NC-4.0", "MIT"),
            ("GPL-3.0-only", "Apache-2.0"),
            ("ODbL-1.0", "ODC-By-1.0"),
        ] {
            let why = forbids(source, whole);
            assert!(
                why.is_some_and(|why| why.contains(source.split(' ').next_back().unwrap())),
                "{source}: {whole}"
            );
        }
    }

    #[test]
    fn what_it_allows_or_nobody_can_tell_is_not_refused() {
        for (source, whole) in [
            ("CC0-1.0", "MIT"),
            ("CC-BY-4.0", "GPL-3.0-only"),
            ("CC-BY-NC-4.0", "CC-BY-NC-4.0"),
            ("CC-BY-NC-4.0", "CC-BY-NC-SA-4.0"),
            ("CC-BY-SA-4.0", "CC-BY-SA-4.0"),
            ("CC-BY-SA-3.0", "CC-BY-SA-4.0"),
            ("CC-BY-SA-4.0", "GPL-3.0-or-later"),
            ("MIT OR CC-BY-NC-4.0", "MIT"),
            ("CC-BY-NC-4.0", "MIT AND CC-BY-NC-4.0"),
            ("LicenseRef-forum", "CC0-1.0"),
            ("CC-BY-NC-4.0", "LicenseRef-agreed"),
        ] {
            assert_eq!(forbids(source, whole), None, "{source}: {whole}");
        }
    }
}
