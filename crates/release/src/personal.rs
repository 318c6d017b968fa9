//! What a card says about personal data: what the rules of this set looked for, what became of it, and what no rule looks for.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::text::anonymise::NOT_SOUGHT;

/// The settings of the anonymise stage, with what each decides about.
const SOUGHT: [(&str, &str); 5] = [
    ("links", "links"),
    ("names", "names of the posts' own users and mentions"),
    ("contacts", "e-mail addresses, telephone numbers, QQ and WeChat accounts"),
    ("identity", "identity numbers of China and the USA, IBANs and card numbers"),
    ("addresses", "street addresses"),
];

/// The sentences on personal data in texts, from the settings of a set's stages.
pub(super) fn describe_personal_data(stages: &BTreeMap<String, BTreeMap<String, Json>>) -> String {
    let anonymised =
        |settings: &&BTreeMap<String, Json>| SOUGHT.iter().all(|(key, _)| settings.contains_key(*key));
    let settings: Vec<_> = stages.values().filter(anonymised).collect();
    if settings.is_empty() {
        return "No stage looked for personal data in texts: they are as people wrote them.".into();
    }
    // Of several stages the one that lets most through decides what can be said.
    let done = |action: &str| {
        let of = |key: &str| {
            let actions: Vec<&str> =
                settings.iter().filter_map(|settings| settings.get(key).and_then(Json::as_str)).collect();
            ["keep", "mark", "drop"].into_iter().find(|action| actions.contains(action))
        };
        let kinds: Vec<&str> =
            SOUGHT.iter().filter(|(key, _)| of(key) == Some(action)).map(|(_, kinds)| *kinds).collect();
        (!kinds.is_empty()).then(|| kinds.join("; "))
    };
    let said = [
        ("mark", "Rules looked for personal data in texts and replaced by marks what they found of these:"),
        ("drop", "Texts in which they found one of these were left out:"),
        ("keep", "Not looked for, by the settings of this set:"),
    ];
    let mut sentences: Vec<String> =
        said.iter().filter_map(|(action, words)| Some(format!("{words} {}.", done(action)?))).collect();
    sentences.push(NOT_SOUGHT.into());
    sentences.push("Rules miss some of what they look for, and nobody checked every text for it.".into());
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(settings: &[(&str, &str)]) -> BTreeMap<String, BTreeMap<String, Json>> {
        let own = SOUGHT.iter().map(|(key, _)| {
            let action =
                settings.iter().find(|(named, _)| named == key).map_or("mark", |(_, action)| *action);
            ((*key).to_owned(), Json::from(action))
        });
        let other = BTreeMap::from([("join".to_owned(), Json::from("newline"))]);
        BTreeMap::from([("clean".to_owned(), other), ("anonymise".to_owned(), own.collect())])
    }

    #[test]
    fn what_was_not_looked_for_is_said() {
        let all = describe_personal_data(&stages(&[]));
        assert!(
            all.contains("replaced by marks what they found of these: links; names of")
                && all.contains(NOT_SOUGHT)
        );
        assert!(!all.contains("by the settings"));
        let kept = describe_personal_data(&stages(&[("names", "keep"), ("identity", "drop")]));
        assert!(kept.contains(
            "Not looked for, by the settings of this set: names of the posts' own users and mentions."
        ));
        assert!(
            kept.contains("left out: identity numbers of China and the USA, IBANs and card numbers."),
            "{kept}"
        );
        assert!(!kept.contains("these: links; names"), "{kept}");
        assert_eq!(
            describe_personal_data(&BTreeMap::new()),
            "No stage looked for personal data in texts: they are as people wrote them."
        );
    }
}
