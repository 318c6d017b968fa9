//! Symbols that stand for a word, which folding keeps where it drops those that adorn a text.
//!
//! A symbol between two letters of one clause is a word there: `今天😀怎么样`. At the edge of a clause a face, a hand or a heart says how
//! the writer feels, and copies add and lose it; a thing (`🐶`) is a word behind a letter or before one, unless the sentence is at
//! its end before it (`鱼会淹死吗🐟`).

/// Characters inserted between others to slip past a filter (`弱丨智`), although they are letters.
const SPACERS: [char; 3] = ['丨', 'ㅣ', 'ˉ'];

pub(super) fn is_spacer(c: char) -> bool {
    SPACERS.contains(&c)
}

/// Arrows, operators, currencies, pictures, dingbats and emoji. Not stars, boxes and circles, which stand between letters to
/// slip past a filter or in place of a word that is not to be read.
pub(super) fn is_symbol(c: char) -> bool {
    matches!(c,
        '\u{20a0}'..='\u{20cf}' | '\u{2190}'..='\u{22ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{2604}'
        | '\u{2607}'..='\u{260f}' | '\u{2614}'..='\u{27bf}' | '\u{2b00}'..='\u{2b1a}' | '\u{2b50}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Faces, hands, hearts and cheers.
fn is_feeling(c: char) -> bool {
    matches!(c,
        '\u{1f600}'..='\u{1f64f}' | '\u{1f90c}'..='\u{1f92f}' | '\u{1f970}'..='\u{1f97a}' | '\u{1f9d0}'
        | '\u{1fae0}'..='\u{1faef}' | '\u{1faf0}'..='\u{1faff}' | '\u{1f440}' | '\u{1f446}'..='\u{1f450}' | '\u{1f480}'
        | '\u{1f48b}' | '\u{1f493}'..='\u{1f49f}' | '\u{1f4a2}' | '\u{1f4a5}' | '\u{1f4a6}' | '\u{1f4a9}'..='\u{1f4ab}'
        | '\u{1f4af}' | '\u{1f31f}' | '\u{1f525}' | '\u{1f389}' | '\u{1f38a}' | '\u{1f5a4}')
}

/// Pictures of things. Signs and dingbats at an edge are bullets.
fn is_thing(c: char) -> bool {
    let is_picture = matches!(c,
        '\u{2600}'..='\u{2604}' | '\u{260e}' | '\u{2614}' | '\u{2615}' | '\u{2640}' | '\u{2642}' | '\u{26a1}'..='\u{26ff}'
        | '\u{1f000}'..='\u{1faff}');
    is_picture && !is_feeling(c)
}

/// What makes no other symbol of one: skin tones, variants, joiners.
fn is_variant(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}')
}

/// Particles that end a sentence of Chinese.
const FINAL: [char; 12] = ['吗', '呢', '吧', '啊', '呀', '哦', '哈', '啦', '哇', '嘛', '么', '了'];

/// The text without symbols that stand for no word.
pub(super) fn keep_words(plain: &str) -> String {
    let chars: Vec<char> = plain.chars().collect();
    let is_letter = |c: &char| c.is_alphanumeric() && !is_spacer(*c);
    let is_space = |c: &char| *c == ' ' || is_spacer(*c);
    let mut kept = String::with_capacity(plain.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if !is_symbol(c) {
            kept.push(c);
            at += 1;
            continue;
        }
        let run = chars[at..].iter().take_while(|c| is_symbol(**c) || is_variant(**c) || is_space(c));
        let end = at + run.count();
        let last = chars[..at].iter().rev().find(|c| !is_space(c)).filter(|c| is_letter(c));
        let next = chars.get(end).filter(|c| is_letter(c));
        let is_word = |c: char| match (last, next) {
            (Some(_), Some(_)) => true,
            (Some(last), None) => is_thing(c) && !FINAL.contains(last),
            (None, Some(_)) => is_thing(c),
            (None, None) => false,
        };
        let mut joined = false;
        for &c in &chars[at..end] {
            // The sex of a person in a picture.
            let is_part = joined && matches!(c, '\u{2640}' | '\u{2642}');
            joined = c == '\u{200d}';
            if is_space(&c) || is_symbol(c) && !is_part && is_word(c) {
                kept.push(c);
            }
        }
        at = end;
    }
    kept
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Verdict, compare, view::fold};

    #[test]
    fn a_symbol_in_the_place_of_a_word_is_one() {
        for (a, b) in [
            ("今天😀怎么样", "今天😭怎么样"),
            ("我的🐶为什么会说英语呢", "我的🐱为什么会说英语呢"),
            ("🐶为什么不会说人话", "🐱为什么不会说人话"),
            ("我明天想去动物园看🐶", "我明天想去动物园看🐱"),
            ("为什么🐶要追🐱满街跑", "为什么🐱要追🐶满街跑"),
            ("从上海→北京要走多久", "从上海←北京要走多久"),
            ("我为什么♥你这么多年", "我为什么💔你这么多年"),
            ("I ❤ my boss so much, is that normal?", "I 💔 my boss so much, is that normal?"),
            ("Why does my 🐶 bark at night?", "Why does my 🐱 bark at night?"),
            ("¿Por qué mi 🐶 no habla conmigo?", "¿Por qué mi 🐱 no habla conmigo?"),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                let pair = super::super::tests::compare_as_detected(a, b);
                assert_ne!(pair.verdict, Verdict::Same, "{a} {b} {pair:?}");
            }
        }
    }

    #[test]
    fn adornments_are_none() {
        for (a, b) in [
            ("今天怎么样😀😀", "今天怎么样"),
            ("😂今天怎么样", "今天怎么样"),
            ("鱼会淹死吗🐟", "鱼会淹死吗🐠"),
            ("鱼会淹死吗？🐟", "鱼会淹死吗"),
            ("鱼会淹死，😂鸟会恐高", "鱼会淹死，鸟会恐高"),
            ("❤️鱼会淹死吗❤", "鱼会淹死吗"),
            ("▶鱼会淹死吗", "→ 鱼会淹死吗"),
            ("我的👍🏽是不是比你的👍大很多", "我的👍是不是比你的👍🏿大很多"),
            ("弱★智为什么会飞", "弱智为什么会飞"),
            ("我昨天在家里养了一只🐶结果它会说话", "我昨天在家里养了一只结果它会说话"),
        ] {
            assert_eq!(compare(a, b).verdict, Verdict::Same, "{a} {b} {:?}", compare(a, b));
        }
        assert_eq!(fold("🐟…？！"), "");
    }
}
