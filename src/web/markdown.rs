//! Markdown of the workspace as safe HTML.

use pulldown_cmark::{Alignment, CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// Renders Markdown without its front matter, for the template filter. HTML in it is escaped, and links may
/// only lead to the web or within the page.
pub(super) fn rendered(markdown: &str) -> String {
    let body = markdown.strip_prefix("---\n").and_then(|rest| Some(rest.split_once("\n---\n")?.1));
    let parser = Parser::new_ext(body.unwrap_or(markdown), Options::ENABLE_TABLES);
    let safe = |url: &CowStr<'_>| ["https://", "http://", "#"].iter().any(|start| url.starts_with(start));
    let events = parser.map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            // The link's end follows as an event of its own, so the start has to stay.
            let dest_url = if safe(&dest_url) { dest_url } else { CowStr::Borrowed("#") };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        // Pictures would be requested from another server.
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => Event::Text(CowStr::Borrowed("")),
        // Alignment would be an inline style, which the content policy forbids.
        Event::Start(Tag::Table(columns)) => Event::Start(Tag::Table(vec![Alignment::None; columns.len()])),
        other => other,
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    // On a narrow screen a table scrolls, which the keyboard has to reach. HTML of the text itself is escaped above.
    out.replace("<table>", "<table tabindex=\"0\">")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_rendered_and_runs_nothing() {
        let card = "---\nlicense: x\n---\n# Title\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) <b>x</b> \
                    [b](https://b.org)\n\n| a |\n|---:|\n| 1 |\n\n![p](https://c.org/p.png)";
        let html = rendered(card);
        assert!(html.contains("<h1>Title</h1>") && html.contains("<td>1</td>"), "{html}");
        assert!(html.contains("<table tabindex=\"0\">"), "{html}");
        assert!(html.contains("href=\"https://b.org\"") && !html.contains("license"), "{html}");
        for banned in ["<script", "<b>", "javascript:", "<img", "style"] {
            assert!(!html.contains(banned), "{banned}: {html}");
        }
    }
}
