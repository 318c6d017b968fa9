//! The addresses of a site's pages. They depend on ids only, so that they stay the same over versions.

use crate::i18n::Language;

/// The most bytes of a name that is an id: file systems take 255, and hosts less.
const LONGEST: usize = 120;

/// The file name of an id, without its ending: letters, digits, `-`, `_` and `.` stay, every other byte is `~` and two
/// hexadecimal digits. An id that is too long or begins with a full stop is named by its hash.
pub(super) fn file_name(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => name.push(byte.into()),
            _ => name.push_str(&format!("~{byte:02X}")),
        }
    }
    if name.is_empty() || name.starts_with('.') || name.len() > LONGEST {
        return format!("~{}", &blake3::hash(id.as_bytes()).to_hex()[..32]);
    }
    name
}

/// The page of a row, from the root of its language.
pub(super) fn row_page(id: &str) -> String {
    format!("rows/{}.html", file_name(id))
}

/// A page of the table of rows, from 1.
pub(super) fn table_page(number: usize) -> String {
    if number <= 1 { "rows.html".into() } else { format!("rows-{number}.html") }
}

/// The page of a prompt.
pub(super) fn prompt_page(name: &str) -> String {
    format!("prompts/{}.html", file_name(name))
}

/// A page of what changed in a version, from 1.
pub(super) fn changes_page(version: &str, number: usize) -> String {
    let name = file_name(version);
    if number <= 1 { format!("changes/{name}.html") } else { format!("changes/{name}-{number}.html") }
}

/// Where the parts of a page lie, relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PagePlace {
    /// The file, from the root of the site.
    pub(super) path: String,
    /// The root of the site: styles, scripts and data.
    pub(super) root: String,
    /// The root of the page's language.
    pub(super) home: String,
    /// The same page in the other language.
    pub(super) other: String,
}

/// A page of one language: the English ones lie at the root, the Chinese ones under `zh/`.
pub(super) fn page_place(language: Language, page: &str) -> PagePlace {
    let home = "../".repeat(page.matches('/').count());
    match language {
        Language::En => {
            PagePlace { path: page.into(), root: home.clone(), other: format!("{home}zh/{page}"), home }
        }
        Language::Zh => {
            let root = format!("../{home}");
            PagePlace { path: format!("zh/{page}"), other: format!("{root}{page}"), root, home }
        }
    }
}

/// The public address of a post, if its id is one of a forum that has addresses.
pub(super) fn post_address(id: &str) -> Option<String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (site, rest) = id.split_once(':')?;
    match (site, rest.split_once(':')) {
        ("tieba", None) if digits(rest) => Some(format!("https://tieba.baidu.com/p/{rest}")),
        ("tieba", Some((thread, post))) if digits(thread) && digits(post) => {
            Some(format!("https://tieba.baidu.com/p/{thread}?pid={post}#{post}"))
        }
        ("reddit", None) if !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            Some(format!("https://www.reddit.com/comments/{rest}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_finds_its_parts_wherever_it_lies() {
        let page = page_place(Language::Zh, "rows/RB-1.html");
        assert_eq!(page.path, "zh/rows/RB-1.html");
        assert_eq!((page.root.as_str(), page.home.as_str()), ("../../", "../"));
        assert_eq!(page.other, "../../rows/RB-1.html");
        let page = page_place(Language::En, "index.html");
        assert_eq!((page.root.as_str(), page.other.as_str()), ("", "zh/index.html"));
    }

    #[test]
    fn an_address_is_of_a_forum_or_there_is_none() {
        assert_eq!(post_address("tieba:12").as_deref(), Some("https://tieba.baidu.com/p/12"));
        assert_eq!(post_address("tieba:12:34").as_deref(), Some("https://tieba.baidu.com/p/12?pid=34#34"));
        for id in ["tieba:1\"onload=", "tieba:", "text:ab", "reddit:a/../b", "RB-1"] {
            assert_eq!(post_address(id), None, "{id}");
        }
    }

    proptest! {
        /// No id leads out of the folder, is an address of its own, or shares a page with another id.
        #[test]
        fn a_name_is_one_plain_part_of_a_path(id in ".{0,150}", other in ".{0,20}") {
            let name = file_name(&id);
            prop_assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.~".contains(&b)));
            prop_assert!(!name.is_empty() && !name.starts_with('.') && name.len() <= LONGEST);
            prop_assert_eq!(id == other, name == file_name(&other));
        }
    }
}
