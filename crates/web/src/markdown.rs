//! Markdown of the workspace as safe HTML.

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use serde::Serialize;

/// The only picture that is shown, where its folder is known.
const PICTURE: &str = "funnel.svg";
/// Begins the ids of headings, so that none is that of another part of the page.
const ID: &str = "in-";

/// A heading of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Heading {
    level: u8,
    /// Its id on the page.
    id: String,
    text: String,
}

/// Renders Markdown without its front matter, for the template filter. HTML in it is escaped, except `<details>` with its
/// `<summary>`, and links may only lead to the web or within the page. `files` is the address of the folder with the
/// text's picture.
pub(super) fn render_markdown(markdown: &str, files: Option<&str>) -> String {
    let events: Vec<Event<'_>> = parse_markdown(markdown).collect();
    let mut ids = collect_headings(&events).into_iter().map(|heading| heading.id);
    let mut shown = SafeMarkdown::default();
    let mut pictures: Vec<bool> = Vec::new();
    for event in events {
        let event = match event {
            Event::Html(text) => {
                shown.push_html_line(&text);
                continue;
            }
            Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let id = ids.next().map(CowStr::from);
                Event::Start(Tag::Heading { level, id, classes, attrs })
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                // The link's end follows as an event of its own, so the start has to stay.
                let dest_url = match dest_url.strip_prefix('#') {
                    Some(id) => format!("#{ID}{id}").into(),
                    None if is_of_the_web(&dest_url) => dest_url,
                    None => CowStr::Borrowed("#"),
                };
                Event::Start(Tag::Link { link_type, dest_url, title, id })
            }
            // Pictures would be requested from another server.
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let folder = files.filter(|_| &*dest_url == PICTURE);
                pictures.push(folder.is_some());
                let Some(folder) = folder else { continue };
                Event::Start(Tag::Image {
                    link_type,
                    dest_url: format!("{folder}{PICTURE}").into(),
                    title,
                    id,
                })
            }
            Event::End(TagEnd::Image) => match pictures.pop() {
                Some(true) => Event::End(TagEnd::Image),
                _ => continue,
            },
            other => other,
        };
        shown.push(event);
    }
    let mut out = String::new();
    html::push_html(&mut out, shown.events.into_iter());
    // Alignment is an inline style, which the content policy forbids. On a narrow screen a table scrolls, which the
    // keyboard has to reach. HTML of the text itself is escaped above.
    for cell in ["td", "th"] {
        for (side, class) in [("right", " class=\"num\""), ("left", ""), ("center", "")] {
            let style = format!("<{cell} style=\"text-align: {side}\">");
            out = out.replace(&style, &format!("<{cell}{class}>"));
        }
    }
    out.replace("<table>", "<table tabindex=\"0\">")
}

/// The headings below the title, as [`render_markdown`] names them.
pub(super) fn table_of_contents(markdown: &str) -> Vec<Heading> {
    let events: Vec<Event<'_>> = parse_markdown(markdown).collect();
    collect_headings(&events).into_iter().filter(|heading| [2, 3].contains(&heading.level)).collect()
}

/// A text without the JSON that it quotes.
pub(super) fn without_code(markdown: &str) -> String {
    let mut quoted = false;
    let keeps = |line: &&str| {
        let (opens, closes) = (line.starts_with("```json"), quoted && line.trim_end() == "```");
        let keeps = !quoted && !opens;
        quoted = (quoted || opens) && !closes;
        keeps
    };
    markdown.split_inclusive('\n').filter(keeps).collect()
}

fn parse_markdown(markdown: &str) -> Parser<'_> {
    let body = markdown.strip_prefix("---\n").and_then(|rest| Some(rest.split_once("\n---\n")?.1));
    Parser::new_ext(body.unwrap_or(markdown), Options::ENABLE_TABLES)
}

fn is_of_the_web(url: &str) -> bool {
    ["https://", "http://"].iter().any(|start| url.starts_with(start))
}

/// Every heading, in order, with an id as the Hub and GitHub make it.
fn collect_headings(events: &[Event<'_>]) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut open: Option<(HeadingLevel, String)> = None;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level, .. }) => open = Some((*level, String::new())),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, heading)) = &mut open {
                    heading.push_str(text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some((level, text)) = open.take() else { continue };
                let is_part = |c: &char| c.is_alphanumeric() || ['-', '_', ' '].contains(c);
                let plain: String = text.to_lowercase().chars().filter(is_part).collect();
                let id = format!("{ID}{}", plain.replace(' ', "-"));
                let taken = |id: &String| found.iter().any(|heading| heading.id == *id);
                // A heading may read like the id of another one: `A`, `A`, `A 1`.
                let further = (1..).map(|n| format!("{id}-{n}"));
                let id = std::iter::once(id.clone()).chain(further).find(|id| !taken(id)).unwrap_or_default();
                found.push(Heading { level: level as u8, id, text });
            }
            _ => {}
        }
    }
    found
}

/// What is shown: all HTML as text, until a `<details>` is closed where it was opened.
#[derive(Default)]
struct SafeMarkdown<'a> {
    events: Vec<Event<'a>>,
    /// Blocks that are open.
    depth: usize,
    /// The places of the parts of each open `<details>`.
    open: Vec<Vec<usize>>,
}

impl<'a> SafeMarkdown<'a> {
    fn push(&mut self, event: Event<'a>) {
        match &event {
            Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
            Event::Start(_) => self.depth += 1,
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.events.push(event);
    }

    /// A line of HTML. Within a list or quotation nothing is opened: its end could come first.
    fn push_html_line(&mut self, line: &str) {
        let line = line.trim_end();
        let summary = line.strip_prefix("<summary>").and_then(|rest| rest.strip_suffix("</summary>"));
        let follows = self.open.last().is_some_and(|parts| parts[..] == [self.events.len() - 1]);
        match (line, summary) {
            ("<details>", _) if self.depth == 0 => {
                self.open.push(vec![self.events.len()]);
                self.push_text("<details>\n");
            }
            ("</details>", _) if self.depth == 0 && !self.open.is_empty() => {
                let parts = self.open.pop().unwrap_or_default();
                let tags = ["<details>", "<summary>", "</summary>"];
                for (place, tag) in parts.into_iter().zip(tags) {
                    self.events[place] = Event::Html(CowStr::Borrowed(tag));
                }
                self.events.push(Event::Html(CowStr::Borrowed("</details>\n")));
            }
            (_, Some(summary)) if follows && !summary.trim().is_empty() => {
                let place = self.events.len();
                if let Some(parts) = self.open.last_mut() {
                    parts.extend([place, place + 2]);
                }
                self.push_text("<summary>");
                self.push_text(summary);
                self.push_text("</summary>");
            }
            _ => self.push_text(&format!("{line}\n")),
        }
    }

    fn push_text(&mut self, text: &str) {
        self.events.push(Event::Text(text.to_owned().into()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_card_is_rendered_and_runs_nothing() {
        let card = "---\nlicense: x\n---\n# Title\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) <b>x</b> \
                    [b](https://b.org)\n\n| a | b |\n|---:|---|\n| 1 | `<td style=\"text-align: right\">` |\n\n![p](https://c.org/p.png)";
        let html = render_markdown(card, Some("/files/"));
        assert!(html.contains("<h1 id=\"in-title\">Title</h1>"), "{html}");
        assert!(html.contains("<td class=\"num\">1</td>"), "{html}");
        assert!(html.contains("<table tabindex=\"0\">"), "{html}");
        assert!(html.contains("href=\"https://b.org\"") && !html.contains("license"), "{html}");
        for banned in ["<script", "<b>", "javascript:", "<img", "<td style"] {
            assert!(!html.contains(banned), "{banned}: {html}");
        }
    }

    #[test]
    fn a_card_has_its_picture_its_contents_and_its_details() {
        let card = "# A\n\nSee [Sources](#the-sources).\n\n![The funnel](funnel.svg)\n\n<details>\n<summary>What \
                    <b>they</b> mean</summary>\n\n- `x`: y\n\n</details>\n\n## The sources\n\n### `flub`\n";
        let html = render_markdown(card, Some("/flub/release/1.0.0/file/"));
        assert!(
            html.contains("<img src=\"/flub/release/1.0.0/file/funnel.svg\" alt=\"The funnel\""),
            "{html}"
        );
        assert!(html.contains("<details><summary>What &lt;b&gt;they&lt;/b&gt; mean</summary>"), "{html}");
        assert!(html.contains("</ul>\n</details>"), "{html}");
        assert!(
            html.contains("<a href=\"#in-the-sources\">") && html.contains("<h2 id=\"in-the-sources\">"),
            "{html}"
        );
        let found = table_of_contents(card);
        let found: Vec<(u8, &str)> =
            found.iter().map(|heading| (heading.level, heading.text.as_str())).collect();
        assert_eq!(found, [(2, "The sources"), (3, "flub")]);
        assert!(!render_markdown(card, None).contains("<img"), "no folder, no picture");
    }

    #[test]
    fn headings_that_read_alike_have_ids_of_their_own() {
        let html = render_markdown("# A\n\n## A\n\n## A\n\n## A 1\n\n## A\n\n## ?\n\n## !\n", None);
        let ids: Vec<&str> =
            html.split("id=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect();
        assert_eq!(ids, ["in-a", "in-a-1", "in-a-2", "in-a-1-1", "in-a-3", "in-", "in--1"]);
    }

    #[test]
    fn what_is_not_closed_where_it_was_opened_is_text() {
        for card in [
            "<details>\n\nall\n",
            "</details>\n",
            "- <details>\n\n</details>\n",
            "<details open>\n\n</details>\n",
            "<summary>x</summary>\n",
            "> <details>\n> x\n\n</details>\n",
            "<details onclick=\"x\">\n\nx\n\n</details>\n",
        ] {
            let html = render_markdown(card, None);
            assert!(!html.contains("<details") && !html.contains("</details>"), "{card}: {html}");
            assert!(!html.contains("<summary>"), "{card}: {html}");
        }
    }

    #[test]
    fn a_card_without_code_quotes_no_row() {
        let card = "a\n\n```json\n{\"text\": \"x\"}\n```\n\n```python\nrows\n```\n";
        assert_eq!(without_code(card), "a\n\n\n```python\nrows\n```\n");
    }

    proptest! {
        /// Whatever a text holds, its only tags are those of Markdown, and every `<details>` is closed.
        #[test]
        fn no_text_opens_a_tag_of_its_own(lines in prop::collection::vec(prop_oneof![
            Just("<details>"), Just("</details>"), Just("<summary>a<i></summary>"), Just("<script>x</script>"), Just(""),
            Just("- a"), Just("> <details>"), Just("  <summary>b</summary>"), Just("```"), Just("| a |\n|--:|\n| <u> |"),
            Just("<svg onload=x>"), Just("![<s>](funnel.svg)"), Just("text <em onclick=y> text"), Just("1. </details>"),
        ], 0..14)) {
            let html = render_markdown(&lines.join("\n"), Some("/f/"));
            prop_assert_eq!(html.matches("<details>").count(), html.matches("</details>").count());
            prop_assert!(html.matches("<summary>").count() <= html.matches("<details>").count());
            for banned in ["<script", "<svg", "<u>", "<i>", "<s>", "<em ", "<details ", "style="] {
                prop_assert!(!html.contains(banned), "{}: {}", banned, html);
            }
        }
    }
}
