//! Word segmentation with jieba's own dictionary and the forum's words, loaded once per process.
//!
//! `forum.txt` is a dictionary in jieba's format, one entry per line: the word, its count, its tag. The tag
//! `place` marks the names of the forum and its people, which its posts share without being similar.

use std::ops::Range;
use std::sync::LazyLock;

use jieba_rs::Jieba;

/// The forum's words in jieba's format.
const FORUM: &str = include_str!("forum.txt");

static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    let mut jieba = Jieba::new();
    // If a line cannot be read, jieba keeps its own dictionary, which suffices for every decision.
    let loaded = jieba.load_dict(&mut FORUM.as_bytes());
    debug_assert!(loaded.is_ok(), "forum.txt: {loaded:?}");
    jieba
});

/// The shared segmenter. The first call loads the dictionary (about 0.1 s); later calls are free.
pub fn shared_jieba() -> &'static Jieba {
    &JIEBA
}

/// Whether a word is in `forum.txt`, whose tag is more exact than jieba's for a word of its own.
fn is_forum_word(word: &str) -> bool {
    FORUM.lines().any(|line| line.split(' ').next() == Some(word))
}

/// The names of the forum and its people, longest first.
pub(super) fn place_names() -> &'static [Vec<char>] {
    static NAMES: LazyLock<Vec<Vec<char>>> = LazyLock::new(|| {
        let name = |line: &str| line.split(' ').next().unwrap_or_default().chars().collect::<Vec<_>>();
        let mut names: Vec<_> = FORUM.lines().filter(|line| line.ends_with(" place")).map(name).collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names
    });
    &NAMES
}

/// How many characters around a span decide about its borders.
const AROUND: usize = 8;

/// A word of a text: its byte range, and its tag in the dictionary.
struct TaggedWord<'a> {
    span: Range<usize>,
    tag: &'a str,
}

/// The words around a span.
fn words_around<'a>(text: &'a str, span: &Range<usize>) -> impl Iterator<Item = TaggedWord<'a>> {
    let from = text[..span.start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let to = text[span.end..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| span.end + at);
    let mut at = from;
    shared_jieba().tag(&text[from..to], false).into_iter().map(move |found| {
        let start = at;
        at += found.word.len();
        TaggedWord { span: start..at, tag: found.tag }
    })
}

/// How many bytes of a text are words of a sentence before the name of a place: `谁知道` of `谁知道广州市天河区`. `head`: where
/// the name is over at the latest.
pub(super) fn lead_of_place(text: &str, head: usize) -> usize {
    let (mut at, mut lead) = (0, 0);
    for found in shared_jieba().tag(text, false) {
        let end = at + found.word.len();
        if end > head || found.tag.starts_with("ns") {
            break;
        }
        // Pronouns, verbs, adverbs, conjunctions, prepositions, times, particles.
        if found.tag.starts_with(['r', 'v', 'd', 'c', 'p', 't', 'u', 'y']) {
            lead = end;
        }
        at = end;
    }
    lead
}

/// Whether a word of `text` crosses the start or the end of `span`, in bytes.
pub(super) fn cuts_a_word(text: &str, span: Range<usize>) -> bool {
    let over = |word: &TaggedWord<'_>, border: usize| word.span.start < border && border < word.span.end;
    words_around(text, &span).any(|word| over(&word, span.start) || over(&word, span.end))
}

/// Whether `span` of `text` is the end of one word and the start of the next: `东突` in `房东突然`.
pub(super) fn falls_between_words(text: &str, span: Range<usize>) -> bool {
    let ends = |word: &TaggedWord<'_>| {
        word.span.start < span.start && (span.start..span.end).contains(&(word.span.end - 1))
    };
    let starts = |word: &TaggedWord<'_>| {
        (span.start + 1..span.end).contains(&word.span.start) && span.end < word.span.end
    };
    let words: Vec<_> = words_around(text, &span).collect();
    words.iter().any(ends) && words.iter().any(starts)
}

/// Whether `span` of `text` is not part of another word: `哪` in `哪有`, not in `哪吒` or `哪怕`; `为何` in `他为何`, not
/// in `认为何`. Longer question words (`什么样`, `没什么`) do not count as other words.
pub(super) fn is_separate_word(text: &str, span: Range<usize>) -> bool {
    words_around(text, &span).all(|word| {
        let over = |border: usize| word.span.start < border && border < word.span.end;
        let holds = word.span.start <= span.start && span.end <= word.span.end;
        let found = &text[word.span.clone()];
        // The dictionary calls `啥意思` and the like nouns; no name opens with these.
        let asks = ["啥", "什么", "怎"].iter().any(|opening| found.starts_with(opening));
        let names = word.tag.starts_with(['n', 'c', 'i']) && !asks || is_forum_word(found);
        if holds { word.span == span || !names } else { !over(span.start) && !over(span.end) }
    })
}

/// The tag of the first word of a text in jieba's dictionary: `d` an adverb, `v` a verb, `n` a noun.
pub(super) fn first_tag(text: &str) -> Option<&str> {
    let head = text.char_indices().nth(AROUND).map_or(text, |(end, _)| &text[..end]);
    shared_jieba().tag(head, false).first().map(|word| word.tag)
}

/// The tag of the last word of a text.
pub(super) fn last_tag(text: &str) -> Option<&str> {
    let tail = text.char_indices().rev().nth(AROUND - 1).map_or(text, |(start, _)| &text[start..]);
    shared_jieba().tag(tail, false).last().map(|word| word.tag)
}

/// The last word of a text.
pub(super) fn last_word(text: &str) -> Option<&str> {
    let tail = text.char_indices().rev().nth(AROUND - 1).map_or(text, |(start, _)| &text[start..]);
    shared_jieba().tag(tail, false).last().map(|word| &tail[tail.len() - word.word.len()..])
}

/// Whether a text says that somebody does something to somebody or something, each in one word: `大夫吃病人`.
pub(super) fn is_sentence(text: &str) -> bool {
    let words = shared_jieba().tag(text, false);
    let tags: Vec<&str> = words.iter().map(|word| word.tag).collect();
    matches!(tags[..], [subject, "v", object] if subject.starts_with('n') && object.starts_with('n'))
        && words.iter().all(|word| shared_jieba().has_word(word.word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forums_words_are_words() {
        for line in FORUM.lines() {
            let word = line.split(' ').next().unwrap();
            assert!(shared_jieba().has_word(word), "{word}");
            assert_eq!(line.split(' ').count(), 3, "{line}");
        }
        assert!(place_names().iter().any(|name| name.iter().collect::<String>() == "弱智吧"));
    }

    #[test]
    fn a_part_of_another_word_is_not_a_word() {
        let apart = |text: &str, word: &str| {
            let start = text.find(word).unwrap();
            is_separate_word(text, start..start + word.len())
        };
        for (text, word) in
            [("谁把月亮吃了", "谁"), ("什么样的月亮", "什么"), ("他为何不来", "为何"), ("这图啥意思", "啥")]
        {
            assert!(apart(text, word), "{text}");
        }
        for (text, word) in [
            ("哪吒闹海", "哪"),
            ("哪怕天黑了", "哪"),
            ("不知鹿死谁手", "谁"),
            ("我认为何老师对", "为何"),
            ("我们一起看爸爸去哪儿", "哪儿"),
            ("他注射了吗啡", "吗"),
        ] {
            assert!(!apart(text, word), "{text}");
        }
        assert_eq!(first_tag("也太舒服了"), Some("d"));
        assert_eq!(last_tag("等月亮下班的老板"), Some("n"));
    }
}
