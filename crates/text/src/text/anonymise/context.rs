//! Whether the characters of a user's name are other words in a text: users call themselves after what people say.
//!
//! What: the name is part of longer words (`热线希望` for `线希望`); it is what several are or own (`我们卖草莓星人`, `卖草莓星人们`); it is counted
//! (`一只病死鸡`); it is eaten, worn, bought or hunted (`穿百慕大三角裤衩`); or it is a sentence (`大夫吃病人`).
//!
//! Why not after `我` or `这个`: `我云中鹤不服` and `这个云中鹤又来了` name somebody.
//!
//! Known problems: a phrase that does something in a text (`病死鸡高喊`) is taken for the user.

use std::ops::Range;

use crate::text::segment;

/// What several people are called, right before what they are.
const SEVERAL: [&str; 9] = ["我们", "你们", "他们", "她们", "它们", "咱们", "俺们", "这些", "那些"];

/// Words that count things, after a number or on their own.
const COUNTED: [&str; 18] = [
    "一个", "两个", "几个", "每个", "各个", "一种", "这种", "那种", "各种", "一只", "这只", "那只", "一条",
    "这条", "一件", "这件", "一群", "某种",
];

/// What is done to things. A particle may follow.
const DONE: [&str; 16] =
    ["穿", "戴", "吃", "喝", "买", "卖", "煮", "炖", "养", "喂", "骑", "种", "捕杀", "捕捉", "宰杀", "屠宰"];
const PARTICLES: [&str; 4] = ["了", "着", "过", "完"];

/// Whether a name in a text, in bytes, stands for no person.
pub fn is_no_person(text: &str, name: Range<usize>) -> bool {
    let (before, after) = (&text[..name.start], &text[name.end..]);
    let han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    if !text[name.clone()].contains(han) {
        return false;
    }
    let ends = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
    let bare = PARTICLES.iter().find_map(|particle| before.strip_suffix(particle)).unwrap_or(before);
    let done =
        |verb: &&str| bare.ends_with(*verb) && segment::last_word(bare).is_some_and(|word| word == *verb);
    after.starts_with("们")
        || ends(&SEVERAL)
        || ends(&COUNTED)
        || DONE.iter().any(done)
        || segment::is_sentence(&text[name.clone()])
        || segment::cuts_a_word(text, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_person(text: &str, name: &str) -> bool {
        let start = text.find(name).unwrap();
        is_no_person(text, start..start + name.len())
    }

    #[test]
    fn other_words_are_no_person() {
        for (text, name) in [
            ("我们卖草莓星人为什么要侵略地球", "卖草莓星人"),
            ("卖草莓星人们为什么要侵略地球", "卖草莓星人"),
            ("一男子穿完百慕大三角裤衩后神秘失踪", "百慕大三角裤衩"),
            ("用鼠夹和苹果筐捕杀病死鸡的", "病死鸡"),
            ("门口有一只病死鸡", "病死鸡"),
            ("大夫吃病人有什么注意事项吗", "大夫吃病人"),
            ("打了热线希望有人接", "线希望"),
        ] {
            assert!(no_person(text, name), "{text}");
        }
    }

    #[test]
    fn users_are_persons() {
        for (text, name) in [
            ("“干掉了。”云中鹤看着掉了的防盗门", "云中鹤"),
            ("我云中鹤不服", "云中鹤"),
            ("这个云中鹤又来了", "云中鹤"),
            ("好消息精神病钱会计收钱收到受抽", "精神病钱会计"),
            ("震惊:挖鼻孔的院长义务为灾区人民挖井", "挖鼻孔的院长"),
            ("是你用大力金刚缺钙娃的马甲煽动大家", "大力金刚缺钙娃"),
            ("你们说敢放屁的精神病出国深造了", "敢放屁的精神病"),
            ("我把幼儿园小兔崽子的奶妈拐到这来了", "幼儿园小兔崽子"),
            ("院长下令把病死鸡拖出去", "病死鸡"),
            ("问rainman99去", "rainman99"),
        ] {
            assert!(!no_person(text, name), "{text}");
        }
    }
}
