//! Templates of pages as they are rendered: their layout is for their readers, and no part of a page.

/// A template without its layout. A line break beside a tag or a block is nothing, so that no gap shows between elements;
/// one between two words or two attributes is a space. A `<pre>` keeps its lines.
///
/// `.ci/templates` lays templates out by the same rule.
pub fn compact_template(template: &str) -> String {
    let mut page = String::with_capacity(template.len());
    let mut is_verbatim = false;
    for line in template.lines() {
        if is_verbatim {
            page.push('\n');
            page.push_str(line);
        } else {
            let line = line.trim();
            let is_beside =
                page.is_empty() || page.ends_with(['>', '}']) || line.starts_with(['<', '{', '>']);
            if !is_beside && !line.is_empty() {
                page.push(' ');
            }
            page.push_str(line);
        }
        let ends = line.rfind("</pre>");
        is_verbatim = line.rfind("<pre") > ends || (is_verbatim && ends.is_none());
    }
    page
}

#[cfg(test)]
mod tests {
    use super::compact_template;

    #[test]
    fn layout_is_no_part_of_a_page() {
        let template = "{% if it %}\n  <p\n    class=\"post\"\n    {% if big %} dir=\"auto\"{% endif %}\n  >\n    {{ it.text }}\n  </p>\n{% endif %}\n";
        let page =
            "{% if it %}<p class=\"post\"{% if big %} dir=\"auto\"{% endif %}>{{ it.text }}</p>{% endif %}";
        assert_eq!(compact_template(template), page);
        assert_eq!(compact_template(page), page);
    }

    #[test]
    fn words_stay_apart_and_elements_are_apart_where_a_space_says_so() {
        assert_eq!(compact_template("<p>\n  two\n  words\n</p>"), "<p>two words</p>");
        assert_eq!(compact_template("<b>1</b>\n<i>2</i>"), "<b>1</b><i>2</i>");
        assert_eq!(compact_template("<b>1</b>\n{{ \" \" }}\n<i>2</i>"), "<b>1</b>{{ \" \" }}<i>2</i>");
        assert_eq!(compact_template("{% if a or\n    b %}\n  x\n{% endif %}"), "{% if a or b %}x{% endif %}");
    }

    #[test]
    fn what_is_preformatted_keeps_its_lines() {
        let lines = "<pre>one\n  two\n\n{{ three }}</pre>";
        assert_eq!(
            compact_template(&format!("<div>\n  {lines}\n  <p>\n</div>")),
            format!("<div>{lines}<p></div>")
        );
        assert_eq!(compact_template("<pre>{{ one }}</pre>\n<p>"), "<pre>{{ one }}</pre><p>");
    }
}
