//! Renders pages from what a route found.

use std::ops::Range;
use std::sync::LazyLock;

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use minijinja::value::{Rest, Serde};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use serde::Serialize;

use super::error::PageError;
use super::visitor::Visitor;
use super::{assets, charts, i18n, markdown, sessions};
use crate::audit::{PieceSide, diff_texts};
use crate::markup::compact_template;
use crate::text::normalise::{Fold, fold};
use crate::text::{format_decimals, group_digits};

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        /// Every template by its name.
        pub(super) const TEMPLATES: &[(&str, &str)] = &[$(($name, include_str!(concat!("templates/", $name)))),+];
    };
}

templates![
    "frame.html",
    "refused.html",
    "guideline.html",
    "history.html",
    "parts.html",
    "causes.html",
    "decide.html",
    "error.html",
    "login.html",
    "join.html",
    "people.html",
    "persons.html",
    "progress.html",
    "progress_head.html",
    "progress_row.html",
    "person.html",
    "trials.html",
    "overview.html",
    "overview_stages.html",
    "stage.html",
    "figures.html",
    "record.html",
    "run.html",
    "running.html",
    "costs.html",
    "found.html",
    "duplicates.html",
    "pending.html",
    "decisions.html",
    "releases.html",
    "release.html",
    "table.html",
    "card.html",
    "diff.html",
    "queue.html",
    "ballot.html",
    "curate.html",
    "assign.html",
    "carry.html",
    "causes.html",
    "site_frame.html",
    "site_overview.html",
    "site_rows.html",
    "site_row.html",
    "site_gone.html",
    "site_changes.html",
    "site_change.html",
    "site_left_out.html",
    "site_prompt.html",
];

/// What each of them is rendered from.
static COMPACT: LazyLock<Vec<String>> =
    LazyLock::new(|| TEMPLATES.iter().map(|(_, text)| compact_template(text)).collect());

static VIEWS: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(|| {
    let mut env = Environment::new();
    // A misspelt variable is an error where it is printed, but templates may test whether one exists.
    env.set_undefined_behavior(minijinja::UndefinedBehavior::SemiStrict);
    env.add_function("t", |state: &State, key: &str, given: Rest<Value>| -> Result<String, Error> {
        let text = i18n::text_of_key(page_language(state), key)
            .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("no word {key:?}")))?;
        Ok(given.iter().fold(text.to_string(), |text, value| text.replacen("{}", &value.to_string(), 1)))
    });
    env.add_function("asset", |name: &str| {
        assets::asset_url(name)
            .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, format!("no asset {name:?}")))
    });
    env.add_function("state", |state: &State, code: &str| {
        i18n::text_of_key(page_language(state), &format!("state_{code}")).unwrap_or(code).to_string()
    });
    env.add_function("stage_name", |state: &State, name: &str| i18n::stage_name(page_language(state), name));
    env.add_function("reason", |state: &State, code: &str| i18n::reason_name(page_language(state), code));
    env.add_function("definition", |state: &State, code: &str| {
        i18n::reason_definition(page_language(state), code)
    });
    env.add_function("rule", |state: &State, text: &str| i18n::rule_meaning(page_language(state), text));
    env.add_function("evidence", |state: &State, text: &str| {
        i18n::translate_evidence(page_language(state), text)
    });
    env.add_function("cited", |state: &State, text: &str| {
        i18n::translate_citation(page_language(state), text)
    });
    env.add_filter("category", |state: &State, value: &str, benchmark: &str| {
        i18n::category_name(page_language(state), benchmark, value)
    });
    env.add_filter("languages", |state: &State, codes: &str| {
        i18n::language_names(page_language(state), codes)
    });
    env.add_function("sentence", |state: &State, text: &str| {
        i18n::translate_sentence(page_language(state), text)
    });
    // Within a macro the language is not looked up: it is given.
    let language_of =
        |lang: &str| if lang == i18n::Language::Zh.code() { i18n::Language::Zh } else { i18n::Language::En };
    env.add_function("drawn", move |spec: Value, title: &str, lang: &str| {
        charts::draw_chart(&spec, title, language_of(lang))
    });
    env.add_function("chart_files", move |spec: Value, title: &str, lang: &str| {
        charts::link_chart(&spec, title, language_of(lang))
    });
    env.add_filter("n", group_digits);
    env.add_filter("u", |text: &str| encode_segment(text));
    env.add_filter("post", |state: &State, text: &str| mark_language(state, text, escape_text(text)));
    env.add_filter("rendered", |text: &str, files: Option<&str>| {
        Value::from_safe_string(markdown::render_markdown(text, files))
    });
    // Amounts under a cent are shown too.
    env.add_filter("usd", |x: f64| if x > 0.0 && x < 0.01 { format!("{x:.4}") } else { format!("{x:.2}") });
    env.add_filter("score", |x: f64| format_decimals(x, 3));
    env.add_filter("percent", |x: f64| format_decimals(x * 100.0, 1));
    env.add_function("differences", |state: &State, a: &str, b: &str| {
        mark_language(state, a, mark_differences(a, b, &[PieceSide::A, PieceSide::B]))
    });
    env.add_function("was", |state: &State, a: &str, b: &str| {
        mark_language(state, a, mark_differences(a, b, &[PieceSide::A]))
    });
    env.add_function("now", |state: &State, a: &str, b: &str| {
        mark_language(state, b, mark_differences(a, b, &[PieceSide::B]))
    });
    env.add_function("marked", |state: &State, text: &str, query: &str| {
        mark_language(state, text, mark_places(text, find_exact(text, query)))
    });
    env.add_function("found_in", |state: &State, text: &str, query: &str| {
        mark_language(state, text, mark_places(text, find_folded(text, query)))
    });
    env.add_filter("to_json", |value: Value| {
        serde_json::to_string(&value).map_err(|e| Error::new(ErrorKind::BadSerialization, e.to_string()))
    });
    for ((name, _), text) in TEMPLATES.iter().zip(COMPACT.iter()) {
        env.add_template(name, text)?;
    }
    Ok(env)
});

fn page_language(state: &State) -> i18n::Language {
    match state.lookup("lang").as_ref().and_then(Value::as_str) {
        Some("zh") => i18n::Language::Zh,
        _ => i18n::Language::En,
    }
}

/// The headers of every page.
pub(super) const PAGE_HEAD: [(HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];

/// A page: a template with the route's data and the data of every page.
///
/// # Errors
/// If the template does not match.
pub(super) fn render_page(
    visitor: &Visitor,
    name: &str,
    found: impl Serialize,
) -> Result<Response, PageError> {
    Ok((PAGE_HEAD, render_html(visitor, name, found)?).into_response())
}

/// A template with the route's data and the data of every page.
///
/// # Errors
/// If the template does not match.
pub(super) fn render_html(visitor: &Visitor, name: &str, found: impl Serialize) -> Result<String, PageError> {
    let views = VIEWS.as_ref().map_err(|error| PageError::internal_error(format!("{error:#}")))?;
    let common = minijinja::context! {
        lang => visitor.language.code(),
        theme => &visitor.theme,
        me => visitor.name(),
        rank => visitor.rank().map(|rank| rank.name()),
        // What the audit pages offer depends on the rank.
        reader => visitor.rank() >= Some(super::access::Rank::Reader),
        curator => visitor.rank() >= Some(super::access::Rank::Curator),
        granted => visitor.grant.is_some(),
        csrf => sessions::csrf_token(&visitor.secret),
        path => &visitor.path,
        query => &visitor.query,
        decided => decided_record(visitor),
        program => crate::VERSION,
    };
    let found = Value::from(Serde(found));
    Ok(views.get_template(name)?.render(minijinja::context! { ..found, ..common })?)
}

/// A page of a folder of pages: for nobody in particular, and without a server. `places` are the ways to its parts, to the
/// root of its language and to the same page in the other one, of letters that need no escapes.
///
/// # Errors
/// If the template does not match.
pub(super) fn render_static(
    language: i18n::Language,
    name: &str,
    places: [&str; 3],
    found: impl Serialize,
) -> Result<String, Error> {
    let broken = |error: &Error| Error::new(ErrorKind::InvalidOperation, format!("{error:#}"));
    let views = VIEWS.as_ref().map_err(broken)?;
    // Otherwise each `/` would be escaped, which no reader needs and thousands of pages hold.
    let [root, home, other] = places.map(|place| Value::from_safe_string(place.to_owned()));
    let found = Value::from(Serde(found));
    let common =
        minijinja::context! { lang => language.code(), program => crate::VERSION, root, home, other };
    views.get_template(name)?.render(minijinja::context! { ..found, ..common })
}

/// The path of the record decided on just now, from the query (`routes/decide.rs`).
fn decided_record(visitor: &Visitor) -> Option<String> {
    let recipe = visitor.path.split('/').nth(1).filter(|name| !name.is_empty())?;
    let mut asked = url::form_urlencoded::parse(visitor.query.as_bytes());
    let (_, record) = asked.find(|(key, record)| key == "decided" && !record.is_empty())?;
    Some(format!("/{}/record/{}#decide", encode_segment(recipe), encode_segment(&record)))
}

/// A text encoded as one path segment.
pub(super) fn encode_segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            // Ids contain colons, such as `text:ab`, and a path segment may contain them as well.
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => {
                out.push(byte.into())
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A post's text for a page: escaped, with characters that would reorder or hide text shown as numbers.
fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        escape_char(c, &mut out);
    }
    out
}

fn escape_char(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        // A line break is a control character too, but it belongs to the text.
        '\n' => out.push('\n'),
        c if is_hidden(c) => out.push_str(&format!("<i class=\"mark\">U+{:04X}</i>", u32::from(c))),
        c => out.push(c),
    }
}

/// Direction marks, joiners, control characters, and others that reorder or hide text.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// A post on a page in another language says which one it is in, so that it is read out and drawn as what it is.
fn mark_language(state: &State, text: &str, html: String) -> Value {
    let han = |c: char| ('\u{3400}'..='\u{9fff}').contains(&c);
    let own = match text.contains(han) {
        true => Some("zh"),
        false => text.contains(|c: char| c.is_ascii_alphabetic()).then_some("en"),
    };
    Value::from_safe_string(match own.filter(|own| *own != page_language(state).code()) {
        Some(own) => format!("<span lang=\"{own}\">{html}</span>"),
        None => html,
    })
}

/// A post's text with these places in it marked.
fn mark_places(text: &str, places: Vec<Range<usize>>) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut from = 0;
    for place in places.into_iter().filter(|place| !place.is_empty()) {
        // Of a character that stands for several, two places may have a part each.
        let start = place.start.max(from);
        if start < place.end {
            out.push_str(&escape_text(&text[from..start]));
            out.push_str(&format!("<mark>{}</mark>", escape_text(&text[start..place.end])));
            from = place.end;
        }
    }
    out.push_str(&escape_text(&text[from..]));
    out
}

/// Where a text has the words, in either case.
fn find_exact(text: &str, query: &str) -> Vec<Range<usize>> {
    let found = regex::RegexBuilder::new(&regex::escape(query.trim())).case_insensitive(true).build();
    found.map(|found| found.find_iter(text).map(|place| place.range()).collect()).unwrap_or_default()
}

/// Where a text has the words as a search finds them: whatever their width, case and script, and the spaces and punctuation
/// between them.
fn find_folded(text: &str, query: &str) -> Vec<Range<usize>> {
    let wanted = fold(query, Fold::KEY);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut whole = String::with_capacity(text.len());
    // Of each character that is left: its place in `whole`, and in the text.
    let mut from: Vec<(usize, Range<usize>)> = Vec::new();
    for (at, c) in text.char_indices() {
        let before = whole.len();
        whole.push_str(&fold(c.encode_utf8(&mut [0; 4]), Fold::KEY));
        if whole.len() > before {
            from.push((before, at..at + c.len_utf8()));
        }
    }
    let place = |(start, hit): (usize, &str)| {
        let first = from.partition_point(|(at, _)| *at <= start).checked_sub(1)?;
        let last = from.partition_point(|(at, _)| *at < start + hit.len()).checked_sub(1)?;
        Some(from.get(first)?.1.start..from.get(last)?.1.end)
    };
    whole.match_indices(wanted.as_str()).filter_map(place).collect()
}

/// Two texts merged into one, with the differences marked by word, or by character in texts without spaces. Of one side
/// alone, only that text with what the other does not have.
fn mark_differences(a: &str, b: &str, sides: &[PieceSide]) -> String {
    let mut out = String::new();
    for piece in diff_texts(a, b)
        .into_iter()
        .filter(|piece| piece.side == PieceSide::Both || sides.contains(&piece.side))
    {
        let (open, close) = match piece.side {
            PieceSide::Both => ("", ""),
            PieceSide::A => ("<del>", "</del>"),
            PieceSide::B => ("<ins>", "</ins>"),
        };
        out.push_str(open);
        out.push_str(&escape_text(&piece.text));
        out.push_str(close);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_a_post_holds_stays_text() {
        let post = "<script>alert(1)</script>\"'&\u{202e}txt\u{0}";
        let html = escape_text(post);
        assert!(!html.contains("<script") && !html.contains('\u{202e}') && !html.contains('\u{0}'));
        assert!(html.contains("&lt;script&gt;") && html.contains("U+202E") && html.contains("U+0000"));
        let of = |sides: &[PieceSide]| mark_differences("a<b", "a>b", sides);
        assert_eq!(of(&[PieceSide::A, PieceSide::B]), "a<del>&lt;</del><ins>&gt;</ins>b");
        assert_eq!(
            (of(&[PieceSide::A]), of(&[PieceSide::B])),
            ("a<del>&lt;</del>b".into(), "a<ins>&gt;</ins>b".into())
        );
    }

    #[test]
    fn what_was_searched_for_is_marked_and_stays_text() {
        let in_either_case = |text: &str, query: &str| mark_places(text, find_exact(text, query));
        assert_eq!(in_either_case("A<b> a", "a"), "<mark>A</mark>&lt;b&gt; <mark>a</mark>");
        assert_eq!(in_either_case("1.5 115", "1.5"), "<mark>1.5</mark> 115");
        assert_eq!(in_either_case("灯<", " "), "灯&lt;");
        let found = |text: &str, query: &str| mark_places(text, find_folded(text, query));
        assert_eq!(found("裝了聲控燈<b>", "声控灯"), "裝了<mark>聲控燈</mark>&lt;b&gt;");
        assert_eq!(found("ＡＢ，灯、 亮？", "ab灯亮"), "<mark>ＡＢ，灯、 亮</mark>？");
        assert_eq!(found("㎏㎏", "gk"), "<mark>㎏㎏</mark>");
        assert_eq!(found("㎏", "k"), "<mark>㎏</mark>");
        assert_eq!(found("灯", "？"), "灯");
        assert_eq!(found("灯", "雨"), "灯");
    }

    #[test]
    fn a_post_in_another_language_than_its_page_says_so() {
        let views = VIEWS.as_ref().unwrap();
        let said = |lang: &str, text: &str| {
            views.render_str("{{ text|post }}", minijinja::context! { lang, text }).unwrap()
        };
        assert_eq!(said("en", "灯"), "<span lang=\"zh\">灯</span>");
        assert_eq!(said("zh", "灯 A"), "灯 A");
        assert_eq!(said("zh", "a <lamp>"), "<span lang=\"en\">a &lt;lamp&gt;</span>");
        assert_eq!((said("en", "a lamp"), said("zh", "1.5")), ("a lamp".into(), "1.5".into()));
    }

    #[test]
    fn addresses_hold_no_character_that_ends_them() {
        assert_eq!(encode_segment("text:ab"), "text:ab");
        assert_eq!(encode_segment("a/b?c#d 灯"), "a%2Fb%3Fc%23d%20%E7%81%AF");
    }

    #[test]
    fn templates_parse_and_name_only_words_there_are() {
        let views = VIEWS.as_ref().unwrap();
        let call = regex::Regex::new(r#"\bt\("([a-z_0-9]+)"[,)]"#).unwrap();
        let script = regex::Regex::new(r"<script>|\son[a-z]+=").unwrap();
        let mut used = BTreeSet::new();
        for (name, text) in TEMPLATES {
            views.get_template(name).unwrap();
            for found in call.captures_iter(text) {
                let key = found[1].to_string();
                assert!(i18n::text_of_key(i18n::Language::En, &key).is_some(), "{name}: no word {key}");
                used.insert(key);
            }
            assert!(!text.contains("|safe"), "{name} trusts a text");
            assert!(!text.contains("<style") && !text.contains(" style="), "{name} holds a style");
            assert!(!script.is_match(text), "{name} holds a script");
        }
        assert!(used.len() > 50);
    }
}
