//! The columns that stages which decide post by post read and change; all other columns are copied unchanged.

use super::Stage;
use riddlemill_tables::ColumnAccess;

/// The columns that a stage reads and writes; `None` where it does not decide post by post, or of posts only by all
/// of them.
pub fn touched(stage: Stage) -> Option<ColumnAccess> {
    match stage {
        Stage::Clean => Some(ColumnAccess {
            reads: &["kind", "title", "content", "score", "number", "language"],
            writes: &["text", "title", "content", "score", "number"],
        }),
        Stage::Anonymise => Some(ColumnAccess {
            reads: &["text", "mentions", "note", "language"],
            writes: &["text", "mentions", "note"],
        }),
        Stage::Filter => Some(ColumnAccess { reads: &["text", "images", "language"], writes: &[] }),
        _ => None,
    }
}

/// As [`touched`], where people decided about records of the stage: they are found by their ids.
pub fn touched_by_id(stage: Stage) -> Option<ColumnAccess> {
    let touched = touched(stage)?;
    let reads: &[&str] = match stage {
        Stage::Clean => &["id", "kind", "title", "content", "score", "number", "language"],
        Stage::Anonymise => &["id", "text", "mentions", "note", "language"],
        Stage::Filter => &["id", "text", "images", "language"],
        _ => return None,
    };
    Some(ColumnAccess { reads, ..touched })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::stages::{anonymise_stage, clean, filter};
    use proptest::prelude::*;
    use riddlemill_text::record::{Cell, Cells, Language, Outcome, Post, PostKind, Record, Typed};

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[云会恐高吗？为什么a1 。]{0,12}",
            Just("如题".into()),
            Just("@示例用户 看 www.example.org，打13800138000".into()),
            Just("3．分数：8.5 云会恐高吗？".into()),
        ]
    }

    fn post() -> impl Strategy<Value = Post> {
        let kind = prop_oneof![Just(PostKind::Thread), Just(PostKind::Numbered), Just(PostKind::Plain)];
        let texts = (
            text(),
            prop::option::of(text()),
            prop::option::of(text()),
            prop::option::of(text()),
            prop::option::of(text()),
        );
        let lists = (prop::collection::vec(text(), 0..3), prop::collection::vec(text(), 0..3));
        let language =
            prop::sample::select(vec![None, Some(Language::Zh), Some(Language::En), Some(Language::Und)]);
        let figures = (prop::option::of(0.0..10.0), prop::option::of(0u64..9), 0u64..3, 1u64..99, language);
        (kind, texts, lists, figures).prop_map(
            |(kind, texts, lists, (score, number, images, position, language))| Post {
                id: "tieba:7".into(),
                kind,
                text: texts.0.clone(),
                title: texts.1,
                content: texts.2,
                author: Some("a1b2".into()),
                mentions: lists.0,
                links: lists.1,
                time: texts.3,
                score,
                number,
                note: texts.4,
                images,
                source: "posts".into(),
                file: texts.0,
                position,
                licence: Some("cc".into()),
                language,
                language_certainty: Some(0.5),
            },
        )
    }

    /// A row's cells in words, column by column.
    fn cells(post: &Post) -> Vec<String> {
        struct TextCells(Vec<String>);
        impl Cells for TextCells {
            fn append(&mut self, cell: Cell<'_>) {
                self.0.push(format!("{cell:?}"));
            }
        }
        let mut columns = TextCells(Vec::new());
        post.append_to(&mut columns);
        columns.0
    }

    /// A post with only the columns that a stage reads.
    fn seen(post: &Post, touched: ColumnAccess) -> Post {
        let Post { id, kind, text, title, content, mentions, note, score, number, images, language, .. } =
            post.clone();
        let reads = |name| touched.reads.contains(&name);
        Post {
            id: if reads("id") { id } else { String::new() },
            kind: if reads("kind") { kind } else { PostKind::default() },
            text: if reads("text") { text } else { String::new() },
            title: title.filter(|_| reads("title")),
            content: content.filter(|_| reads("content")),
            note: note.filter(|_| reads("note")),
            mentions: if reads("mentions") { mentions } else { Vec::new() },
            score: score.filter(|_| reads("score")),
            number: number.filter(|_| reads("number")),
            images: if reads("images") { images } else { 0 },
            language: language.filter(|_| reads("language")),
            ..Post::default()
        }
    }

    proptest! {
        #[test]
        fn a_stage_touches_what_it_says(post in post()) {
            let config = Config::defaults();
            let settings = config.typed(None, "anonymise");
            let anonymise = anonymise_stage(std::path::Path::new("."), &settings).unwrap();
            for stage in [Stage::Clean, Stage::Anonymise, Stage::Filter] {
                let touched = touched(stage).unwrap();
                let decide = |post: Post| match stage {
                    Stage::Clean => clean(post, &config.typed(None, "clean")),
                    Stage::Anonymise => anonymise.post(post),
                    _ => filter(post, &config.typed(None, "filter")),
                };
                let (whole, part) = (decide(post.clone()), decide(seen(&post, touched)));
                let (Outcome::Kept(a) | Outcome::Changed { row: a, .. }, Outcome::Kept(b) | Outcome::Changed { row: b, .. }) =
                    (&whole, &part)
                else {
                    prop_assert_eq!(whole, part);
                    continue;
                };
                let (before, a, b) = (cells(&post), cells(a), cells(b));
                for (at, column) in Post::COLUMNS.iter().enumerate() {
                    if touched.writes.contains(&column.name) {
                        prop_assert_eq!(&a[at], &b[at], "{:?} {}", stage, column.name);
                    } else {
                        prop_assert_eq!(&a[at], &before[at], "{:?} {}", stage, column.name);
                    }
                }
            }
        }
    }
}
