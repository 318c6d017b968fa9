//! DOM trees of pages, with limits checked first.
//!
//! html5ever does not recurse, but for every open element it walks over all the others: 100,000 nested tags
//! take minutes, and so does a tag of 100,000 attributes. A megabyte of tiny elements makes a tree of fifty.
//! So all three are measured before anything is built.
//!
//! What cannot be measured before is what a page builds: after each paragraph html5ever repeats every `<b>`,
//! `<font>` or `<a>` that was not closed, so that 18 kB became 400,000 elements and 50 kB three gigabytes. Pages
//! are fed to it piece by piece, and it is stopped when there are more nodes than its tags explain.

use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{LocalName, ParseOpts, Parser, QualName, driver, ns};
use scraper::{ElementRef, Html, HtmlTreeSink, Selector};

/// Deepest nesting of a page. Real ones stay under 60.
pub const MAX_DEPTH: usize = 1000;

/// Most tags and comments of a page. Real ones stay under 20,000.
pub const MAX_TAGS: usize = 200_000;
/// Most attributes of one tag. Real ones stay under 40.
pub const MAX_ATTRIBUTES: usize = 1000;

/// Most nodes of a page, whatever it consists of.
const MAX_NODES: usize = 500_000;
/// Nodes that are built for one tag, on average: itself, its text, an implied parent, and what it repeats of a
/// page that is sloppily nested. Real ones stay under 3.
const NODES_PER_TAG: usize = 8;
/// Nodes that any page may have.
const FEW_NODES: usize = 10_000;
/// Bytes fed at once: a tag can build at most [`MAX_DEPTH`] elements.
const PIECE: usize = 128;

/// A page exceeds [`MAX_DEPTH`] or the other limits; it is marked and not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the page nests deeper than {MAX_DEPTH} elements, or has too many of them")]
pub struct TooDeep;

/// Parses a whole page.
///
/// # Errors
/// [`TooDeep`].
pub fn parse_document(html: &str) -> Result<Html, TooDeep> {
    let tags = check_and_count_tags(html)?;
    build(driver::parse_document(HtmlTreeSink::new(Html::new_document()), ParseOpts::default()), html, tags)
}

/// Parses a part of a page.
///
/// # Errors
/// [`TooDeep`].
pub fn parse_fragment(html: &str) -> Result<Html, TooDeep> {
    let tags = check_and_count_tags(html)?;
    // As `Html::parse_fragment` does.
    let body = QualName::new(None, ns!(html), LocalName::from("body"));
    let sink = HtmlTreeSink::new(Html::new_fragment());
    build(driver::parse_fragment(sink, ParseOpts::default(), body, Vec::new(), false), html, tags)
}

/// Builds the tree of a page of so many tags, unless it grows without them.
fn build(mut parser: Parser<HtmlTreeSink>, html: &str, tags: usize) -> Result<Html, TooDeep> {
    let most = (FEW_NODES + NODES_PER_TAG * tags).min(MAX_NODES);
    let mut rest = html;
    while !rest.is_empty() {
        // Never within a character.
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE));
        parser.process(StrTendril::from_slice(piece));
        if parser.tokenizer.sink.sink.0.borrow().tree.values().len() > most {
            return Err(TooDeep);
        }
        rest = after;
    }
    Ok(parser.finish())
}

/// Checks what can be measured in the text, and counts the tags.
fn check_and_count_tags(html: &str) -> Result<usize, TooDeep> {
    let tags = check_depth(html)?;
    check_attributes(html)?;
    Ok(tags)
}

/// Counts the attributes of each tag, as the tokenizer would outside of raw text. Scripts, where `<` is an
/// operator, are skipped.
fn check_attributes(html: &str) -> Result<(), TooDeep> {
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &bytes[at..]) {
        at += found + 1;
        if !bytes.get(at).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let name = at;
        at += length_until(&bytes[at..], |b| b.is_ascii_whitespace() || matches!(b, b'/' | b'>'));
        let script = bytes[name..at].eq_ignore_ascii_case(b"script");
        let mut attributes = 0;
        loop {
            at += length_until(&bytes[at..], |b| !b.is_ascii_whitespace() && b != b'/');
            match bytes.get(at) {
                None => return Ok(()),
                Some(b'>') => break,
                Some(_) => attributes += 1,
            }
            if attributes > MAX_ATTRIBUTES {
                return Err(TooDeep);
            }
            // An attribute's name may begin with a character that ends others.
            at += 1 + length_until(&bytes[at + 1..], |b| {
                b.is_ascii_whitespace() || matches!(b, b'/' | b'>' | b'=')
            });
            let value = at + length_until(&bytes[at..], |b| !b.is_ascii_whitespace());
            if bytes.get(value) != Some(&b'=') {
                continue;
            }
            at = value + 1;
            at += length_until(&bytes[at..], |b| !b.is_ascii_whitespace());
            match bytes.get(at) {
                Some(&quote @ (b'"' | b'\'')) => {
                    at += 1;
                    // A quotation that never ends swallows the rest of the page.
                    let Some(end) = memchr::memchr(quote, &bytes[at..]) else { return Ok(()) };
                    at += end + 1;
                }
                _ => at += length_until(&bytes[at..], |b| b.is_ascii_whitespace() || b == b'>'),
            }
        }
        if script {
            at += script_end(&bytes[at..]);
        }
    }
    Ok(())
}

/// How many bytes precede the first one that matches.
fn length_until(bytes: &[u8], such: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|b| such(*b)).unwrap_or(bytes.len())
}

/// Declares selectors: `selectors! { TITLE = "h3.core_title_txt"; … }`.
macro_rules! selectors {
    ($($name:ident = $css:literal;)+) => {
        $(static $name: std::sync::LazyLock<scraper::Selector> = std::sync::LazyLock::new(|| {
            scraper::Selector::parse($css).expect("selectors in the source are valid")
        });)+
    };
}
pub(super) use selectors;

/// The first match inside an element.
pub fn first_match<'a>(within: ElementRef<'a>, selector: &Selector) -> Option<ElementRef<'a>> {
    within.select(selector).next()
}

/// The page's title, trimmed.
pub fn page_title(page: &Html) -> String {
    selectors! { TITLE = "title"; }
    page.select(&TITLE).next().map(|t| t.text().collect::<String>().trim().to_string()).unwrap_or_default()
}

/// The canonical address that a page states, if any.
pub fn canonical_address(html: &str) -> Option<String> {
    selectors! { CANONICAL = "link[rel=canonical][href]"; }
    let page = parse_document(html).ok()?;
    let address = page.select(&CANONICAL).next().and_then(|link| link.value().attr("href"));
    address.map(str::to_owned)
}

/// What programs that save pages write before and behind the address, at the head of the page: browsers, SingleFile,
/// monolith, HTTrack (without the scheme), Save Page WE, WebScrapBook.
const SAVED: [(&str, &[char]); 6] = [
    (" saved from url=(", &[' ', '\n', '\r']),
    ("Page saved with SingleFile", &['\n', '\r']),
    ("<!-- Saved from ", &[' ']),
    ("<!-- Mirrored from ", &[' ']),
    ("<meta name=\"savepage-url\" content=\"", &['"']),
    (" data-scrapbook-source=\"", &['"']),
];

/// The address that a saved page is from: written above it by what saved it, or stated by the page itself.
pub fn saved_address(html: &str) -> Option<String> {
    // It stands next to the doctype; further down it may be part of a text.
    let head = &html[..html.floor_char_boundary(4096)];
    let saved = SAVED.iter().find_map(|(before, behind)| {
        let (_, rest) = head.split_once(before)?;
        let rest = match *before {
            " saved from url=(" => rest.split_once(')')?.1,
            "Page saved with SingleFile" => rest.split_once("-->")?.0.split_once("url:")?.1.trim_start(),
            _ => rest,
        };
        let url = rest.split(*behind).next()?.trim();
        let mirrored = *before == "<!-- Mirrored from " && !url.contains("://");
        let url = if mirrored { format!("http://{url}") } else { url.to_owned() };
        url::Url::parse(&url)
            .is_ok_and(|url| url.has_host())
            .then(|| if before.ends_with('"') { url.replace("&amp;", "&") } else { url })
    });
    saved.or_else(|| canonical_address(html))
}

/// Elements whose end tag may be omitted: they close each other and nest only inside others, which are
/// counted.
const IMPLIED: &[&str] = &[
    "html", "head", "body", "p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody",
    "tfoot", "colgroup", "rt", "rp",
];
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// An upper bound of a page's nesting: each start tag opens, an end tag closes only the nearest of its name.
/// For misnested pages this counts more than a browser would. Returns the number of tags and comments.
fn check_depth(html: &str) -> Result<usize, TooDeep> {
    let bytes = html.as_bytes();
    let mut open: Vec<&[u8]> = Vec::new();
    let mut foreign = false;
    let (mut at, mut tags) = (0, 0);
    while let Some(found) = memchr::memchr(b'<', &bytes[at..]) {
        at += found + 1;
        tags += 1;
        if tags > MAX_TAGS {
            return Err(TooDeep);
        }
        let rest = &bytes[at..];
        if rest.starts_with(b"!--") {
            // 6 is the length of `!--` and of `-->`.
            at += find_bytes(&rest[3..], b"-->").map_or(rest.len(), |end| end + 6);
            continue;
        }
        let (end_tag, from) = if rest.first() == Some(&b'/') { (true, 1) } else { (false, 0) };
        let length = rest[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count();
        if length == 0 || !rest[from].is_ascii_alphabetic() {
            continue;
        }
        let name = &rest[from..from + length];
        at += from + length;
        if end_tag {
            if let Some(place) = open.iter().rposition(|other| other.eq_ignore_ascii_case(name)) {
                open.remove(place);
            }
            continue;
        }
        foreign |= name.eq_ignore_ascii_case(b"svg") || name.eq_ignore_ascii_case(b"math");
        // Inside svg and math a script is an ordinary element.
        if name.eq_ignore_ascii_case(b"script") && !foreign {
            at += script_end(&bytes[at..]);
            continue;
        }
        let known = |names: &[&str]| names.iter().any(|n| n.as_bytes().eq_ignore_ascii_case(name));
        if !known(VOID) && !known(IMPLIED) {
            open.push(name);
            if open.len() > MAX_DEPTH {
                return Err(TooDeep);
            }
        }
    }
    Ok(tags)
}

fn script_end(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = find_bytes(&bytes[at..], b"</") {
        at += found + 2;
        if bytes.get(at..at + 6).is_some_and(|name| name.eq_ignore_ascii_case(b"script")) {
            return at;
        }
    }
    bytes.len()
}

fn find_bytes(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(haystack, needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_nested_tags_are_refused_in_a_moment() {
        for tag in ["div", "b", "font size=1", "svg><g", "custom-element", "b></i", "table><tbody><tr><td"] {
            let page = format!("<html><body>{}", format!("<{tag}>").repeat(100_000));
            assert_eq!(parse_document(&page).map(|_| ()), Err(TooDeep), "{tag}");
        }
        let closed = format!("{}{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
        assert_eq!(parse_fragment(&closed).map(|_| ()), Err(TooDeep));
    }

    #[test]
    fn a_megabyte_of_tiny_tags_and_a_tag_of_attributes_are_refused_in_a_moment() {
        assert!(parse_document(&"<b></b>".repeat(300_000)).is_err());
        assert!(parse_document(&"<!---->".repeat(300_000)).is_err());
        let many = |sign: &str| (0..100_000).map(|i| format!(" a{i}{sign}")).collect::<String>();
        for sign in ["", "=1", "=\">\"", "= 'x > y'", "/"] {
            assert!(parse_document(&format!("<p{}>", many(sign))).is_err(), "{sign}");
            assert!(parse_document(&format!("<p{}", many(sign))).is_err(), "{sign}");
        }
        let script = format!("<script>if (a<b) {{{}}}</script><p x=1>text", "a = 1; ".repeat(5_000));
        assert!(parse_document(&script).is_ok());
    }

    /// 18 kB of this took 0.6 GB, 50 kB 2.6 GB and half a minute, 110 kB all there was.
    #[test]
    fn what_is_repeated_after_each_paragraph_is_bounded_before_it_is_built() {
        let open = |n: usize| (0..n).map(|i| format!("<b id={i}>")).collect::<String>();
        let links = |n: usize| (0..n).map(|i| format!("<font color={i}><i id=x{i}>")).collect::<String>();
        for unit in ["<p>x", "<div>x</div>", "<p><table><td>x</table>", "<li>x", "</p>x"] {
            for page in [
                open(900) + &unit.repeat(2_000),
                links(450) + &unit.repeat(20_000),
                format!("<p>{}", open(300)) + &unit.repeat(50_000),
                "<!--<b>--><textarea></textarea><title><b></title>".to_owned()
                    + &open(900)
                    + &unit.repeat(4_000),
            ] {
                let start = std::time::Instant::now();
                for built in [parse_document(&page), parse_fragment(&page)].into_iter().flatten() {
                    // What stays open around the paragraphs is built once.
                    let nodes = built.tree.values().count();
                    assert!(nodes < 4 * page.matches('<').count() + 10, "{unit}: {nodes}");
                }
                assert!(start.elapsed().as_secs() < 5, "{unit}: {:?}", start.elapsed());
            }
            // These close what is around them, and all that was open is built again.
            let repeats = ["<p>x", "<div>x</div>", "<li>x"].contains(&unit);
            let page = format!("<p>{}", open(300)) + &unit.repeat(50_000);
            assert!(!repeats || parse_document(&page).is_err(), "{unit}");
        }
        // Sloppy pages are read: a few elements that are never closed.
        let sloppy = format!("<font size=2><b><i><u>{}", "<p>a <a href=x>b</a>".repeat(3_000));
        assert!(parse_document(&sloppy).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn a_page_fed_in_pieces_is_the_page(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "<p>", "</p>", "<b>", "</b>", "<a href='x&amp;y'>", "</a>", "&lt;", "&", "&nbsp", "\r\n", "文字",
                    "<table>", "<td>", "<script>if (a<b)</script>", "<!-- c -->", "<textarea>\n", "</textarea>",
                    "text that is long enough that pieces end inside of it ", "<svg><g/></svg>", "<", ">", "\0",
                ]),
                0..80,
            ),
            shift in 0usize..140,
        ) {
            let page = " ".repeat(shift) + &parts.concat();
            if let Ok(fed) = parse_document(&page) {
                proptest::prop_assert_eq!(fed.html(), Html::parse_document(&page).html());
            }
            if let Ok(fed) = parse_fragment(&page) {
                proptest::prop_assert_eq!(fed.html(), Html::parse_fragment(&page).html());
            }
        }
    }

    #[test]
    fn long_flat_pages_pass_however_sloppy() {
        for unit in
            ["<li>a", "<p>b", "<div><br><img src=x></div>", "<!-- <div><div> -->", "<script>'<div>'</script>"]
        {
            let page = unit.repeat(5_000);
            assert!(parse_document(&page).is_ok(), "{unit}");
        }
        assert!(parse_document("<ul><li><a href=x>1 < 2</a></ul>").is_ok());
    }
}
