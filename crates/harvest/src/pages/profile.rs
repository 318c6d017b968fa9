//! A forum described by selectors, so that a user adds one without Rust.

use scraper::{ElementRef, Html, Selector};
use serde::{Deserialize, Serialize};

use super::dom::{self, TooDeep};
use super::row::{Post, PostKind};
use super::text::text_of;
use super::time;

/// CSS selectors; `selector@attribute` takes an attribute in place of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Links from a list to the pages of posts (`href` unless an attribute is named).
    pub list: Option<String>,
    /// One post.
    pub item: String,
    /// Title, in the item or else on the page.
    pub title: Option<String>,
    /// Text, in the item; without it the whole item is the text.
    pub body: Option<String>,
    /// Author, in the item.
    pub author: Option<String>,
    /// Time, in the item; taken as UTC+8.
    pub time: Option<String>,
    /// Link to the next page.
    pub next: Option<String>,
}

/// A selector that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("profile: `{field}` is not a CSS selector: `{css}`")]
pub struct ProfileError {
    /// The setting.
    pub field: &'static str,
    /// What it says.
    pub css: String,
}

/// What a page gives under a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfilePage {
    /// Its posts.
    pub posts: Vec<Post>,
    /// Links to pages of posts, as written.
    pub links: Vec<String>,
    /// Link to the next page, as written.
    pub next: Option<String>,
}

struct Pick {
    selector: Selector,
    attribute: Option<String>,
}

impl Profile {
    /// Checks every selector, so that a mistake is found before the first request.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub fn check(&self) -> Result<(), ProfileError> {
        self.compile().map(|_| ())
    }

    fn compile(&self) -> Result<Compiled, ProfileError> {
        let optional = |field, css: &Option<String>| css.as_deref().map(|css| pick(field, css)).transpose();
        Ok(Compiled {
            list: optional("list", &self.list)?,
            item: pick("item", &self.item)?,
            title: optional("title", &self.title)?,
            body: optional("body", &self.body)?,
            author: optional("author", &self.author)?,
            time: optional("time", &self.time)?,
            next: optional("next", &self.next)?,
        })
    }

    /// Reads a page.
    ///
    /// # Errors
    /// [`TooDeep`]; an invalid profile reads nothing ([`Profile::check`] says what is wrong).
    pub fn read(&self, html: &str, captured: Option<&str>) -> Result<ProfilePage, TooDeep> {
        let page = dom::document(html)?;
        Ok(self.read_tree(&page, captured))
    }

    pub(super) fn read_tree(&self, page: &Html, captured: Option<&str>) -> ProfilePage {
        let Ok(compiled) = self.compile() else { return ProfilePage::default() };
        let root = page.root_element();
        let links = compiled.list.iter().flat_map(|pick| all(root, pick, Some("href"))).collect();
        let next = compiled.next.as_ref().and_then(|pick| all(root, pick, Some("href")).next());
        let posts =
            root.select(&compiled.item.selector).map(|item| compiled.post(root, item, captured)).collect();
        ProfilePage { posts, links, next }
    }
}

struct Compiled {
    list: Option<Pick>,
    item: Pick,
    title: Option<Pick>,
    body: Option<Pick>,
    author: Option<Pick>,
    time: Option<Pick>,
    next: Option<Pick>,
}

impl Compiled {
    fn post(&self, page: ElementRef<'_>, item: ElementRef<'_>, captured: Option<&str>) -> Post {
        let inside = |pick: &Option<Pick>| pick.as_ref().and_then(|pick| all(item, pick, None).next());
        let title_pick = self.title.as_ref();
        let time_raw = inside(&self.time);
        Post {
            title: inside(&self.title).or_else(|| title_pick.and_then(|pick| all(page, pick, None).next())),
            text: match &self.body {
                Some(pick) => all(item, pick, None).next(),
                None => Some(text_of(item, &[])),
            },
            author: inside(&self.author),
            time: time_raw.as_deref().and_then(|raw| time::parse(raw, captured)),
            time_raw,
            link: title_pick.and_then(|pick| {
                item.select(&pick.selector).next()?.value().attr("href").map(str::to_string)
            }),
            ..Post::new(PostKind::Floor)
        }
    }
}

fn pick(field: &'static str, css: &str) -> Result<Pick, ProfileError> {
    let (selector, attribute) = match css.rsplit_once('@') {
        Some((selector, name))
            if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') =>
        {
            (selector, Some(name.to_string()))
        }
        _ => (css, None),
    };
    let parsed = Selector::parse(selector).map_err(|_| ProfileError { field, css: css.into() })?;
    Ok(Pick { selector: parsed, attribute })
}

fn all<'a>(
    within: ElementRef<'a>,
    pick: &'a Pick,
    default: Option<&'a str>,
) -> impl Iterator<Item = String> + 'a {
    let attribute = pick.attribute.as_deref().or(default);
    within.select(&pick.selector).filter_map(move |element| match attribute {
        Some(name) => element.value().attr(name).map(str::to_string),
        None => Some(text_of(element, &[])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forum_is_read_by_selectors_alone() {
        let profile = Profile {
            list: Some("ul.topics a".into()),
            item: "div.reply".into(),
            title: Some("h1".into()),
            body: Some(".text".into()),
            author: Some("img.face@alt".into()),
            time: Some("time".into()),
            next: Some("a.more".into()),
        };
        let html = "<h1>题</h1><ul class=topics><a href=/t/1>x</a></ul>
            <div class=reply><img class=face alt=甲><div class=text>一<br>二</div><time>2024-01-02 03:04</time></div>
            <div class=reply><div class=text>三</div></div><a class=more href='?p=2'>more</a>";
        let page = profile.read(html, None).unwrap();
        assert_eq!((page.links.as_slice(), page.next.as_deref()), (&["/t/1".to_string()][..], Some("?p=2")));
        let first = &page.posts[0];
        assert_eq!((first.title.as_deref(), first.text.as_deref()), (Some("题"), Some("一\n二")));
        assert_eq!(first.author.as_deref(), Some("甲"));
        assert_eq!(first.time.as_deref(), Some("2024-01-02T03:04+08:00"));
        assert_eq!(page.posts[1].author, None);
    }

    #[test]
    fn a_bad_selector_is_named() {
        let bad = Profile { item: "div".into(), time: Some("p[".into()), ..Profile::default() };
        assert_eq!(bad.check().unwrap_err().field, "time");
    }
}
