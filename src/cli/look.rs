//! `crawl --try`: what a profile finds on one page, field by field, and what it does not find.

use std::path::Path;

use url::Url;

use super::args::{Crawl, Global};
use super::exit::{Exit, Failure};
use super::output::{self, count};
use crate::config::{Config, Profiles, near_miss, unknown};
use crate::crawl::settings::Source;
use crate::crawl::{self, Dirs, ReceivedPage};
use crate::pages::profile::{Inspected, Inspection, Missing};
use crate::pages::{self, Class, Profile, Site, charset};
use crate::report::PageFinding;
use crate::store::Error;

pub(super) fn look_at_page(
    args: &Crawl,
    target: &str,
    dirs: &Dirs,
    config: &Config,
    global: &Global,
) -> Result<Exit, Failure> {
    let own = match &args.source {
        Some(name) => Some(find_crawl(config, name)?),
        None => None,
    };
    // A Windows path such as C:\page.html parses as a URL, too.
    let address = Url::parse(target).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let source = match (&address, own) {
        (Some(url), None) => Some(of_host(config, url)?),
        (_, own) => own,
    };
    let (name, profile) = find_profile(args, source, global)?;
    let site = Site::Profile(profile.clone());
    let page = match (&address, source) {
        (Some(url), Some(source)) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime
                .map_err(|e| Failure { exit: Exit::Io, message: format!("cannot start the network: {e}") })?;
            match runtime.block_on(crawl::request_once(source, dirs, url))? {
                Ok(looked) => looked,
                Err(why) => {
                    return Err(Failure {
                        exit: Exit::Partial,
                        message: format!("no page to look at: {why}"),
                    });
                }
            }
        }
        _ => inspect_saved(Path::new(target), args.url.as_deref(), &site)?,
    };
    let text = charset::decode_page(&page.body, page.content_type.as_deref(), &site);
    // A saved page has no date of capture.
    let captured = Some(page.date.as_str()).filter(|date| !date.is_empty());
    let class = pages::parse_page(&site, &page.url, page.status, &text.text, captured).class;
    let seen = profile.inspect_page(&text.text, &page.url, captured).unwrap_or_default();
    let view = View {
        page: &page,
        name: &name,
        encoding: text.encoding,
        replaced: text.replaced,
        class,
        seen: &seen,
    };
    if global.json {
        output::print_json(&PageFinding::new(&page, class, text.encoding, &name, &seen))?
    } else {
        output::print_text(&view.view_text(args.posts))?
    }
    let something = class == Class::Ok && (!seen.items.is_empty() || !seen.links.is_empty());
    Ok(if something { Exit::Done } else { Exit::Partial })
}

/// The crawl that may request a host.
fn of_host<'c>(config: &'c Config, url: &Url) -> Result<&'c Source, Failure> {
    let asks = |source: &&Source| crawl::may_ask(source, url);
    config.crawls.iter().find(asks).ok_or_else(|| {
        Failure::usage(format!(
            "no [[crawl]] allows requests to {}\n  hint: an address is fetched under the rules of a \
             [[crawl]] (contact, hosts, delays): write one, or save the page and try the file",
            url.host_str().unwrap_or_default()
        ))
    })
}

fn find_profile(
    args: &Crawl,
    source: Option<&Source>,
    global: &Global,
) -> Result<(String, Profile), Failure> {
    if let Some(name) = &args.profile {
        let profiles = Profiles::open(&global.workspace);
        return match profiles.load_profile(name) {
            Ok(Some(profile)) => Ok((name.clone(), profile)),
            Ok(None) => {
                let names = profiles.profile_names();
                Err(Failure::usage(unknown("profile", name, names.iter().map(String::as_str))))
            }
            Err(problems) => Err(Failure::usage(crate::config::Problems(problems).to_string())),
        };
    }
    match source.map(|source| (&source.site, &source.name)) {
        Some((Site::Profile(profile), name)) => Ok((format!("[[crawl]] {name}"), profile.clone())),
        Some((_, name)) => Err(Failure::usage(format!(
            "[[crawl]] {name:?} has no profile: its pages are read by the program's own rules\n  hint: --profile NAME tries one; `riddlemill profiles list` shows what there is"
        ))),
        None => Err(Failure::usage(
            "which profile?\n  hint: --profile NAME (`riddlemill profiles list`), or the name of a [[crawl]]",
        )),
    }
}

fn inspect_saved(path: &Path, url: Option<&str>, site: &Site) -> Result<ReceivedPage, Failure> {
    let body = std::fs::read(path).map_err(Error::io("read", path))?;
    let url = match url {
        Some(url) => url.to_owned(),
        None => pages::saved_address(&charset::decode_page(&body, None, site).text).unwrap_or_default(),
    };
    Ok(ReceivedPage { url, status: 200, content_type: None, body, date: String::new() })
}

/// A page with what was found on it.
struct View<'v> {
    page: &'v ReceivedPage,
    name: &'v str,
    encoding: &'static str,
    replaced: bool,
    class: Class,
    seen: &'v Inspection,
}

impl View<'_> {
    fn view_text(&self, posts: usize) -> String {
        let View { page, seen, .. } = self;
        let what = match (seen.list, seen.thread) {
            (true, true) => "a list that holds posts",
            (true, false) => "a list",
            (false, true) => "a page of posts",
            (false, false) => "neither a list nor a page of posts",
        };
        let url = if page.url.is_empty() { "(no address)" } else { &page.url };
        let came = if page.date.is_empty() { "saved page".into() } else { format!("status {}", page.status) };
        let mut text = format!("{url}\n  {came}, {}", self.encoding);
        if self.replaced {
            text.push_str(", with invalid bytes");
        }
        text.push_str(&format!("; by {}: {what}", self.name));
        if self.class != Class::Ok {
            text.push_str(&format!(", {}", self.class.code()));
        }
        text.push_str(&format!(
            "; {}, {}\n",
            count(seen.items.len() as u64, "post"),
            count(seen.links.len() as u64, "link")
        ));
        for (link, mark) in seen.links.iter().take(posts) {
            let mark =
                mark.as_ref().map(|mark| format!("  (changed: {})", shorten_line(mark))).unwrap_or_default();
            text.push_str(&format!("  list      {link}{mark}\n"));
        }
        if seen.links.len() > posts {
            text.push_str(&format!("  list      and {} more\n", seen.links.len() - posts));
        }
        if let Some(next) = &seen.next {
            text.push_str(&format!("  next      {next}\n"));
        }
        for (at, item) in seen.items.iter().take(posts).enumerate() {
            text.push_str(&describe_post(at + 1, item));
        }
        if seen.items.len() > posts {
            text.push_str(&format!(
                "and {} more (--posts N shows them)\n",
                count((seen.items.len() - posts) as u64, "post")
            ));
        }
        if !seen.missing.is_empty() {
            text.push_str("not found\n");
        }
        for missing in &seen.missing {
            text.push_str(&format!("  {:9} {}\n", missing.key, self.describe_missing(missing)));
        }
        text
    }

    fn describe_missing(&self, missing: &Missing) -> String {
        let mut text = missing.description.clone();
        // If some posts have it, the selector is right.
        if let Some((lacking, having)) = missing.posts.filter(|(_, having)| *having > 0) {
            text.push_str(&format!(": in {lacking} of {}", count((lacking + having) as u64, "post")));
            return text;
        }
        for stranger in &missing.strangers {
            let near = near_miss(stranger, self.seen.element_names.iter().map(String::as_str));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            text.push_str(&format!("\n            `{stranger}` is not on the page{hint}"));
        }
        if let Some((part, found)) = missing.part.as_ref().filter(|(part, _)| *part != missing.description) {
            text.push_str(&format!(
                "\n            `{part}` finds {found}; the rest of the selector finds \
                 nothing inside"
            ));
        } else if missing.part.is_some() && missing.posts.is_some() {
            text.push_str("\n            it is on the page, but in no item: `in = \"page\"`?");
        }
        text
    }
}

fn describe_post(number: usize, item: &Inspected) -> String {
    let entry = &item.entry;
    let joke = match item.joke {
        Some(true) => "",
        Some(false) => ", left out: `jokes` asks for the first of a thread",
        None => ", a joke if the thread's owner numbers it",
    };
    let mut text = format!("post {number}{joke}\n");
    match (&entry.id, &entry.native) {
        (Some(id), _) => text.push_str(&format!("  called    {id}\n")),
        (None, Some(_)) => text.push_str(
            "  called    after a hash of its text: the page has no address, and there is no `namespace`\n",
        ),
        (None, None) => {}
    }
    if let Some(placeholder) = &entry.removed {
        text.push_str(&format!("  gone      {}\n", shorten_line(placeholder)));
    }
    for seen in &item.seen {
        let read = match seen.key {
            "time" => Some(entry.time.clone().unwrap_or_else(|| {
                "not a known format of times: see \
                                         `time_formats`"
                    .into()
            })),
            "score" => Some(entry.score.map_or_else(|| "no number".into(), |score| score.to_string())),
            "floor" => Some(entry.floor.map_or_else(|| "no number".into(), |floor| floor.to_string())),
            "title" => entry.title.clone(),
            "body" => entry.body.clone(),
            "answer" => entry.answer.clone(),
            _ => None,
        };
        let raw = shorten_line(&seen.raw);
        let value = match read.map(|read| shorten_line(&read)) {
            Some(read) if read != raw => format!("{read}  (from {raw:?})"),
            _ => raw,
        };
        text.push_str(&format!("  {:9} {value}  <- {}\n", seen.key, seen.by));
    }
    text
}

/// A text on one line, truncated.
fn shorten_line(text: &str) -> String {
    const MOST: usize = 120;
    let text = text.replace('\n', " ⏎ ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

pub(super) fn find_crawl<'a>(config: &'a Config, name: &str) -> Result<&'a Source, Failure> {
    config.crawls.iter().find(|s| s.name == name).ok_or_else(|| match config.crawls.is_empty() {
        true => Failure::usage(
            "pipeline.toml has no [[crawl]] table\n  hint: `riddlemill config --explain crawl` lists \
                 its keys",
        ),
        false => Failure::usage(unknown("crawl", name, config.crawls.iter().map(|s| s.name.as_str()))),
    })
}
