//! Every page in Chinese says everything in Chinese, except posts, code and names.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

use regex::Regex;

use crate::browser::{Browser, Server, made};
use crate::site::{pages, released};

/// Pages read of each kind: whatever stands for a recipe, a record or a version in the address is one kind.
const OF_A_KIND: usize = 1;

/// Names in English: of benchmarks, people's roles in pipeline.toml, methods, formats and laws, and codes of answers.
const NAMES: &[&str] = &[
    "CSV",
    "LaTeX",
    "SVG",
    "RuozhiBench",
    "Gen",
    "MC",
    "FLUB",
    "Chumor",
    "BrainTeaser",
    "riddlemill",
    "ruozhibench-gen",
    "flub",
    "chumor",
    "brainteaser",
    "candidate",
    "annotator",
    "junior",
    "senior",
    "meta",
    "Levenshtein",
    "Jaro",
    "Winkler",
    "rensen",
    "Dice",
    "Krippendorff",
    "Fleiss",
    "Cohen",
    "WordNet",
    "QQ",
    "RT",
    "SHA",
    "JSON",
    "Lines",
    "json",
    "jsonl",
    "Cookie",
    "English",
    "token",
    "llm",
    "null",
    "true",
    "false",
    "pandas",
    "DuckDB",
    "Polars",
    "pyarrow",
    "harmful",
    "untranslatable",
    // Of a card: labels of the set, its title and its paper's.
    "Absurd",
    "Imagination",
    "Commonsense",
    "Misunderstanding",
    "Erroneous",
    "Assumption",
    "Logical",
    "Error",
    "Others",
    "Scientific",
    "Misconception",
    "synthetic",
    "rebuilt",
    "ruozhibench-mc",
    "Zhai",
    "et",
    "al",
    "string",
    "LICENSES",
    // Words of a riddle in an example of a guideline.
    "London",
    "France",
];

/// What stands in English on purpose: a paper's title, and the name of the model of the sample.
const TITLES: &[&str] = &[
    "RuozhiBench: Evaluating LLMs with Logical Fallacies and Misleading Premises",
    "replies written for the sample",
];

/// Categories of a set, which cards and cells name as the set does, and charts and filters in the page's language.
const CATEGORIES: &[&str] = &[
    "Absurd Imagination",
    "Commonsense Misunderstanding",
    "Erroneous Assumption",
    "Logical Error",
    "Others",
    "Scientific Misconception",
    "synthetic",
];

/// Elements that hold no words of the pages: code, what people type, and drawings.
const SILENT: &[&str] = &["script", "style", "code", "pre", "kbd", "textarea", "svg", "title"];

/// Classes of posts, ids, codes and names of files.
const QUOTED: &[&str] = &["post", "id", "code", "files"];

/// Elements that have no end.
const EMPTY: &[&str] = &["area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"];

struct Element {
    name: String,
    silent: bool,
    /// Whether it is a part of a chart, or a value to filter by.
    charted: bool,
    /// Whether a word that stands alone has to be Chinese, too: elsewhere it is a name.
    strict: bool,
}

/// What a page says, with whether a word alone has to be Chinese; what its charts name; where it leads; its ids, and those
/// that its labels name.
#[derive(Default)]
struct Page {
    said: Vec<(String, bool)>,
    charted: Vec<String>,
    leads: Vec<String>,
    ids: Vec<String>,
    names: Vec<String>,
}

impl Page {
    /// Ids that occur twice, and ids that are named and are not there.
    fn wrong_ids(&self) -> Vec<&str> {
        let twice = |at: usize| self.ids[..at].contains(&self.ids[at]);
        let twice = (0..self.ids.len()).filter(|at| twice(*at)).map(|at| self.ids[at].as_str());
        let missing = self.names.iter().filter(|name| !self.ids.contains(name)).map(String::as_str);
        twice.chain(missing).collect()
    }
}

fn attributes(tag: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = tag;
    while let Some((name, after)) = rest.split_once("=\"") {
        let name = name.rsplit([' ', '\n']).next().unwrap_or_default();
        let Some((value, behind)) = after.split_once('"') else { break };
        found.insert(
            name.to_owned(),
            value.replace("&#x2f;", "/").replace("&amp;", "&").replace("&#x27;", "'"),
        );
        rest = behind;
    }
    found
}

fn read(html: &str, of_puzzles: bool) -> Page {
    let mut page = Page::default();
    let mut open: Vec<Element> = Vec::new();
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        let (silent, strict) = open.last().map_or((false, false), |last| (last.silent, last.strict));
        let charted = open.last().is_some_and(|last| last.charted);
        if charted {
            page.charted.push(text.to_owned());
        }
        if !silent {
            page.said.push((text.to_owned(), strict));
        }
        let (tag, behind) = after.split_once('>').unwrap_or((after, ""));
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            if let Some(at) = open.iter().rposition(|element| element.name == name) {
                open.truncate(at);
            }
            continue;
        }
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        let has = attributes(tag);
        let get = |name: &str| has.get(name).map(String::as_str).unwrap_or_default();
        page.leads.extend(["href", "hx-get"].iter().map(|name| get(name).to_owned()));
        page.ids.extend(has.get("id").cloned());
        let names =
            ["aria-labelledby", "aria-describedby", "for"].into_iter().flat_map(|name| get(name).split(' '));
        page.names.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
        let classes: Vec<&str> = get("class").split(' ').collect();
        // Of puzzles, evidence quotes what was cut off or misspelt, in English.
        let evidence = !of_puzzles && classes.contains(&"evidence");
        let in_english = get("lang").starts_with("en") && !open.last().is_some_and(|last| last.strict);
        let silent = silent
            || SILENT.contains(&name.as_str())
            || classes.iter().any(|class| QUOTED.contains(class))
            // Of puzzles, what can be filtered by are answers, too.
            || of_puzzles && (classes.contains(&"evidence") || name == "option")
            || get("dir") == "auto"
            || get("id") == "since"
            || in_english;
        let strict = strict || evidence || classes.contains(&"rule");
        if !silent {
            let words = ["aria-label", "title", "placeholder", "alt"].map(|name| get(name).to_owned());
            page.said.extend(words.into_iter().map(|words| (words, strict)));
        }
        if !EMPTY.contains(&name.as_str()) && !tag.starts_with('!') {
            let charted =
                charted || ["figure", "option"].contains(&name.as_str()) || classes.contains(&"pick");
            open.push(Element { name, silent, charted, strict });
        }
    }
    page
}

/// A command that somebody types.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"riddlemill( [!-~]+)+").unwrap());

/// Names of columns: in quotes, or at the head of a table with its order or unit.
static COLUMNS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`[^`]*`|^\s*[a-z_]+ ?([↑↓]|（字符）)").unwrap());

/// English stops behind Chinese.
static STOPS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\p{Han}([.;:?!](\s|$)|, )").unwrap());

/// Words that are neither Chinese nor a name: of a command every word is one.
fn english(text: &str, strict: bool) -> Vec<String> {
    let text = COMMAND.replace_all(text, " ");
    // Code, and the name of a column with an arrow or its unit.
    let text = COLUMNS.replace_all(&text, " ");
    let text = TITLES.iter().fold(text.into_owned(), |text, title| text.replace(title, " "));
    let is_ascii = |c: char| c.is_ascii_graphic();
    let tokens: Vec<&str> =
        text.split(|c: char| !is_ascii(c) || c == ',').filter(|t| !t.is_empty()).collect();
    let alone = !strict && tokens.len() == 1 && text.trim() == tokens[0];
    let word = |token: &&str| {
        let token = token.trim_matches(|c: char| c.is_ascii_punctuation());
        token.len() > 1 && token.bytes().all(|byte| byte.is_ascii_alphabetic()) && !NAMES.contains(&token)
    };
    let found = tokens.iter().copied().filter(word).filter(|_| !alone);
    // A sentence ends with the full stop of its language.
    let stops = STOPS.find_iter(&text).map(|stop| stop.as_str()).filter(|_| !strict);
    found.chain(stops).map(str::to_owned).collect()
}

/// The kind of a page: its address without names, numbers and values.
fn kind(path: &str) -> String {
    let (place, query) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<&str> = place.split('/').collect();
    // A filter by one column is like that by another.
    let key = |pair: &'_ str| pair.split(['=', '.']).next().unwrap_or_default().to_owned();
    let keys: BTreeSet<String> = query.split('&').map(key).collect();
    let named = match parts.len() {
        0..=3 => place.to_owned(),
        // Stages differ in what they say; records, versions and ballots do not.
        _ if parts[2] == "stage" || parts[2] == "figures" => parts[2..].join("/"),
        _ => [parts[2], parts.get(4).copied().unwrap_or_default()].join("/"),
    };
    format!("{named} {keys:?}")
}

#[test]
fn pages_in_chinese_hold_no_english() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut browser = Browser { cookies: vec![("lang".into(), "zh".into())] };
    let first =
        ["/", "/find?q=x", "/people", "/run", "/run/costs", "/releases", "/curate", "/review", "/nothing"];
    let mut waiting: VecDeque<String> = first.iter().map(ToString::to_string).collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut read_of: BTreeMap<String, usize> = BTreeMap::new();
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong_ids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    while let Some(path) = waiting.pop_front() {
        let of_kind = read_of.entry(kind(&path)).or_default();
        if *of_kind == OF_A_KIND || !seen.insert(path.clone()) {
            continue;
        }
        *of_kind += 1;
        let answer = browser.get(&server, &path);
        if !answer.head.contains("text/html") {
            continue;
        }
        assert!(answer.body.contains("<html lang=\"zh-Hans\""), "{path} is not Chinese");
        let page = read(&answer.body, path.starts_with("/brainteaser/"));
        let wrong: Vec<String> = page.wrong_ids().into_iter().map(str::to_owned).collect();
        if !wrong.is_empty() {
            wrong_ids.insert(path.clone(), wrong);
        }
        for text in page.charted.iter().filter(|text| CATEGORIES.contains(&text.trim())) {
            found.entry(text.trim().to_owned()).or_insert_with(|| path.clone());
        }
        for (text, strict) in page.said {
            if !english(&text, strict).is_empty() {
                found.entry(text.trim().to_owned()).or_insert_with(|| path.clone());
            }
        }
        for leads in page.leads {
            let to = match leads.strip_prefix('?') {
                Some(query) => format!("{}?{query}", path.split('?').next().unwrap_or_default()),
                None => leads,
            };
            let to = to.split('#').next().unwrap_or_default();
            // Filters, orders and pages together are as each of them.
            if to.starts_with('/')
                && to.matches('&').count() < 2
                && !["lang=", "theme=", "/assets/", "logout"].iter().any(|no| to.contains(no))
            {
                waiting.push_back(to.to_owned());
            }
        }
    }
    assert!(seen.len() > 40, "{} pages only", seen.len());
    assert!(found.is_empty(), "{} texts in English: {found:#?}", found.len());
    assert!(wrong_ids.is_empty(), "ids that occur twice or are named and not there: {wrong_ids:#?}");
}

#[test]
fn sites_in_chinese_hold_no_english() {
    for recipe in ["flub", "ruozhibench-gen", "chumor", "brainteaser"] {
        let ws = released(recipe);
        ws.call(["site", &format!("output/{recipe}/1.0.0-draft.1"), "--out", "site"]).expect(0);
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for (path, html) in pages(&ws.tree("site")).filter(|(path, _)| path.starts_with("zh/")) {
            let page = read(&html, recipe == "brainteaser");
            assert_eq!(page.wrong_ids(), Vec::<&str>::new(), "{path}");
            for (text, strict) in page.said {
                if !english(&text, strict).is_empty() {
                    found.entry(text.trim().to_owned()).or_insert_with(|| path.clone());
                }
            }
        }
        assert!(found.is_empty(), "{recipe}: {} texts in English: {found:#?}", found.len());
    }
}

#[test]
fn a_set_has_a_card_in_chinese_beside_the_english_one() {
    let workspace = made();
    let server = Server::start(&workspace, &[]);
    let mut browser = Browser { cookies: vec![("lang".into(), "zh".into())] };
    for (recipe, says) in [
        ("flub", "刁钻文本（中文）。"),
        ("ruozhibench-gen", "评审：类别"),
        ("ruozhibench-mc", "好回答在选项中的位置"),
        ("chumor", "好笑在哪里，由人撰写。"),
        ("brainteaser", "谜题（英文）。"),
    ] {
        let folder = format!("output/{recipe}/candidate");
        let card = workspace.read(&format!("{folder}/README.zh.md"));
        assert!(card.contains(says) && card.contains("### 来源"), "{card}");
        // Tables and sentences alike: what is English in them is code or a name.
        let mut code = false;
        for line in card.lines() {
            code ^= line.starts_with("```");
            let spoken: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
            let table = line.starts_with('|');
            let words = if code || table { Vec::new() } else { english(&spoken, false) };
            let sentence = words.len() > 2 && !line.contains("*");
            assert!(!sentence || line.starts_with("`") || line.starts_with("# "), "{recipe}: {line}");
        }
        let manifest = workspace.read(&format!("{folder}/MANIFEST.json"));
        assert!(manifest.contains("\"README.zh.md\""), "the manifest has its hash");
        let page = browser.get(&server, &format!("/{recipe}/release/candidate/card")).body;
        assert!(page.contains("lang=\"zh\"") && page.contains("制作"), "{page}");
    }
    // An older version has the English card alone.
    workspace.remove("output/flub/candidate/README.zh.md");
    let page = browser.get(&server, "/flub/release/candidate/card").body;
    assert!(page.contains("class=\"markdown\" lang=\"en\"") && page.contains("Dataset Creation"), "{page}");
}

#[test]
fn english_is_told_from_code_and_names() {
    assert_eq!(english("the rows", false), ["the", "rows"]);
    assert_eq!(english("请运行 riddlemill run --to clean；其余 later", false), ["later"]);
    assert!(english("question", false).is_empty() && !english("question", true).is_empty());
    assert_eq!(english("一句话. 另一句。", false), ["话. "]);
    assert!(english("见 pipeline.toml 的 draft.endpoint、min_chars 与 raw/dumps", false).is_empty());
    let page =
        read("<p class=\"post\" lang=\"zh\">a post</p><p title=\"a title\">灯<br><b>on</b></p>", false);
    let said: Vec<&str> =
        page.said.iter().map(|(text, _)| text.as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(said, ["a title", "灯", "on"]);
    let page = read(
        "<b id=\"a\"></b><i id=\"a\" aria-labelledby=\"a b\"></i><figure><p dir=\"auto\">x</p></figure>",
        false,
    );
    assert_eq!((page.wrong_ids(), page.charted.join("")), (vec!["a", "b"], "x".to_owned()));
}
