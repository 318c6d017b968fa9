//! The licence of a set, by the identifiers of other systems, and whether that of a source allows it.
//!
//! That is known of the licences of data that say so in their names, and of the common copyleft ones. What a `LicenseRef-` or a
//! rarer licence allows is for the curator to know.

use serde::Serialize;
use spdx::expression::{ExprNode, Operator};
use spdx::{Expression, LicenseItem, LicenseReq};

use super::manifest::Raw;
use crate::config::sections;

/// SPDX identifiers of licences that the Hub supports (huggingface.co/docs/hub/repositories-licenses), and
/// the Hub's names. Any other is `other`, with a name and a file of its own.
const HUB: &[(&str, &str)] = &[
    ("AFL-3.0", "afl-3.0"),
    ("AGPL-3.0-only", "agpl-3.0"),
    ("AGPL-3.0-or-later", "agpl-3.0"),
    ("Apache-2.0", "apache-2.0"),
    ("Artistic-2.0", "artistic-2.0"),
    ("BSD-2-Clause", "bsd-2-clause"),
    ("BSD-3-Clause", "bsd-3-clause"),
    ("BSD-3-Clause-Clear", "bsd-3-clause-clear"),
    ("BSL-1.0", "bsl-1.0"),
    ("C-UDA-1.0", "c-uda"),
    ("CC-BY-2.0", "cc-by-2.0"),
    ("CC-BY-2.5", "cc-by-2.5"),
    ("CC-BY-3.0", "cc-by-3.0"),
    ("CC-BY-4.0", "cc-by-4.0"),
    ("CC-BY-NC-2.0", "cc-by-nc-2.0"),
    ("CC-BY-NC-3.0", "cc-by-nc-3.0"),
    ("CC-BY-NC-4.0", "cc-by-nc-4.0"),
    ("CC-BY-NC-ND-3.0", "cc-by-nc-nd-3.0"),
    ("CC-BY-NC-ND-4.0", "cc-by-nc-nd-4.0"),
    ("CC-BY-NC-SA-2.0", "cc-by-nc-sa-2.0"),
    ("CC-BY-NC-SA-3.0", "cc-by-nc-sa-3.0"),
    ("CC-BY-NC-SA-4.0", "cc-by-nc-sa-4.0"),
    ("CC-BY-ND-4.0", "cc-by-nd-4.0"),
    ("CC-BY-SA-3.0", "cc-by-sa-3.0"),
    ("CC-BY-SA-4.0", "cc-by-sa-4.0"),
    ("CC0-1.0", "cc0-1.0"),
    ("CDLA-Permissive-1.0", "cdla-permissive-1.0"),
    ("CDLA-Permissive-2.0", "cdla-permissive-2.0"),
    ("CDLA-Sharing-1.0", "cdla-sharing-1.0"),
    ("ECL-2.0", "ecl-2.0"),
    ("EPL-1.0", "epl-1.0"),
    ("EPL-2.0", "epl-2.0"),
    ("EUPL-1.1", "eupl-1.1"),
    ("GFDL-1.1-only", "gfdl"),
    ("GFDL-1.1-or-later", "gfdl"),
    ("GFDL-1.2-only", "gfdl"),
    ("GFDL-1.2-or-later", "gfdl"),
    ("GFDL-1.3-only", "gfdl"),
    ("GFDL-1.3-or-later", "gfdl"),
    ("GPL-1.0-only", "gpl"),
    ("GPL-1.0-or-later", "gpl"),
    ("GPL-2.0-only", "gpl-2.0"),
    ("GPL-2.0-or-later", "gpl-2.0"),
    ("GPL-3.0-only", "gpl-3.0"),
    ("GPL-3.0-or-later", "gpl-3.0"),
    ("ISC", "isc"),
    ("LGPL-2.0-only", "lgpl"),
    ("LGPL-2.0-or-later", "lgpl"),
    ("LGPL-2.1-only", "lgpl-2.1"),
    ("LGPL-2.1-or-later", "lgpl-2.1"),
    ("LGPL-3.0-only", "lgpl-3.0"),
    ("LGPL-3.0-or-later", "lgpl-3.0"),
    ("LGPLLR", "lgpl-lr"),
    ("LPPL-1.3c", "lppl-1.3c"),
    ("MIT", "mit"),
    ("MPL-2.0", "mpl-2.0"),
    ("MS-PL", "ms-pl"),
    ("NCSA", "ncsa"),
    ("ODC-By-1.0", "odc-by"),
    ("ODbL-1.0", "odbl"),
    ("OFL-1.1", "ofl-1.1"),
    ("OSL-3.0", "osl-3.0"),
    ("PDDL-1.0", "pddl"),
    ("PostgreSQL", "postgresql"),
    ("Unlicense", "unlicense"),
    ("WTFPL", "wtfpl"),
    ("Zlib", "zlib"),
    ("etalab-2.0", "etalab-2.0"),
];

/// A licence by the identifiers of other systems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Licence {
    /// As stated, an SPDX expression; `None` if none is stated for the whole set.
    pub spdx: Option<String>,
    /// Its identifier on the Hub.
    pub hub: &'static str,
    /// The identifiers from which a user may choose; empty if it is not a simple choice.
    pub choice: Vec<String>,
    /// Identifier and text of each licence in it.
    pub texts: Vec<(String, String)>,
}

impl Licence {
    /// The licence in the settings, else the one that all sources share.
    pub fn combine_licences(settings: &sections::Release, raw: &[Raw]) -> Licence {
        let mut stated: Vec<Option<&str>> = raw.iter().map(|file| file.licence.as_deref()).collect();
        // Removing equal neighbours is enough, because only a single licence counts below.
        stated.dedup();
        match (settings.licence.as_str(), &stated[..]) {
            ("", [Some(one)]) => Licence::parse_licence(one),
            ("", _) => Licence { spdx: None, hub: "other", choice: Vec::new(), texts: Vec::new() },
            (named, _) => Licence::parse_licence(named),
        }
    }

    /// A licence by its SPDX expression, which has been validated with the settings.
    pub(super) fn parse_licence(spdx: &str) -> Licence {
        let expression = Expression::parse(spdx).ok();
        let nodes = || expression.iter().flat_map(Expression::iter);
        let plain = |node: &ExprNode| match node {
            ExprNode::Op(operator) => *operator == Operator::Or,
            ExprNode::Req(asked) => {
                let id = matches!(asked.req.license, LicenseItem::Spdx { or_later: false, .. });
                id && asked.req.addition.is_none()
            }
        };
        let ids = || {
            nodes().filter_map(|node| match node {
                ExprNode::Req(asked) => asked.req.license.id().map(|id| id.name.to_owned()),
                ExprNode::Op(_) => None,
            })
        };
        Licence {
            hub: HUB.iter().find(|(id, _)| *id == spdx).map_or("other", |(_, hub)| *hub),
            choice: if nodes().all(plain) { ids().collect() } else { Vec::new() },
            texts: ids().map(|id| (id.clone(), format!("https://spdx.org/licenses/{id}.html"))).collect(),
            spdx: Some(spdx.into()),
        }
    }
}

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
pub(super) fn why_forbidden(source: &str, set_licence: &str) -> Option<String> {
    let (of_source, of_whole) = (Expression::parse(source).ok()?, Expression::parse(set_licence).ok()?);
    let mut why = None;
    let allowed = of_source.evaluate(|source| {
        // Whoever gets the whole may choose any of its alternatives, so the source has to allow each of them.
        let refused = of_whole.evaluate(|whole| match why_incompatible(source, whole) {
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
fn why_incompatible(source: &LicenseReq, whole: &LicenseReq) -> Option<String> {
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
    use super::*;

    #[test]
    fn the_hubs_names_come_from_a_table() {
        for (spdx, hub, choice) in [
            ("GPL-3.0-only", "gpl-3.0", vec!["GPL-3.0-only"]),
            ("ODC-By-1.0", "odc-by", vec!["ODC-By-1.0"]),
            ("CC0-1.0", "cc0-1.0", vec!["CC0-1.0"]),
            ("MIT OR Apache-2.0", "other", vec!["MIT", "Apache-2.0"]),
            ("MIT AND Apache-2.0", "other", vec![]),
            ("CC-BY-1.0", "other", vec!["CC-BY-1.0"]),
            ("LicenseRef-forum", "other", vec![]),
        ] {
            let named = Licence::parse_licence(spdx);
            assert_eq!(
                (named.hub, named.choice),
                (hub, choice.into_iter().map(String::from).collect()),
                "{spdx}"
            );
        }
        // A name in the table that is not an SPDX identifier would never be found.
        assert!(
            HUB.iter()
                .all(|(id, _)| Expression::parse(id).is_ok() && Licence::parse_licence(id).texts.len() == 1)
        );
    }

    #[test]
    fn sources_that_differ_state_nothing_for_the_whole() {
        let file = |licence: Option<&str>| Raw {
            file: "a/a.json".into(),
            kind: "table".into(),
            sha256: String::new(),
            items: 1,
            licence: licence.map(String::from),
            sample: false,
        };
        let settings = crate::config::Config::defaults().typed_settings::<sections::Release>(None, "release");
        let of = |licences: &[Option<&str>]| {
            Licence::combine_licences(
                &settings,
                &licences.iter().map(|licence| file(*licence)).collect::<Vec<_>>(),
            )
            .spdx
        };
        assert_eq!(of(&[Some("MIT"), Some("MIT")]).as_deref(), Some("MIT"));
        assert_eq!(of(&[Some("MIT"), None, Some("MIT")]), None);
        assert_eq!(of(&[Some("MIT"), Some("CC0-1.0")]), None);
        assert_eq!(of(&[]), None);
    }

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
            let why = why_forbidden(source, whole);
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
            assert_eq!(why_forbidden(source, whole), None, "{source}: {whole}");
        }
    }
}
