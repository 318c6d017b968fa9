//! Where the name behind an at-sign ends in Chinese, which has no blank between words.
//!
//! What: up to a blank or a delimiter if what is between is short and asks nothing; otherwise what the dictionary calls a name
//! (`小明`), a family name with one or two characters (`王大锤`), or letters and digits (`moon_child`), up to a word that no name has.
//!
//! Why not the rest of the sentence: `@小明为什么冰箱里会亮` is a joke with a name before it. An at-sign that stands for itself
//! (`一个@符号值多少钱`) has no name behind it.
//!
//! Known problems: a name that is neither delimited nor in any list stays.

use crate::text::segment::shared_jieba;

/// What an at-sign is called.
const SIGNS: [&str; 8] = ["符号", "字符", "标志", "标记", "键", "号", "功能", "这个"];

/// Words of questions.
const ASKING: [&str; 24] = [
    "什么",
    "为啥",
    "为何",
    "为毛",
    "怎么",
    "怎样",
    "咋",
    "如何",
    "干嘛",
    "干吗",
    "谁",
    "哪里",
    "哪个",
    "哪儿",
    "多少",
    "几个",
    "吗",
    "呢",
    "是不是",
    "能不能",
    "会不会",
    "有没有",
    "可不可以",
    "要不要",
];

/// Family names, by how many people have them.
const FAMILIES: &str = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍韦申尤毕聂焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁时舒耿牟卜詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵劉陳楊趙黃吳孫馬羅鄭謝韓馮許鄧葉閻鍾譚鄒陸龍錢湯賀賴龔龐蘭";

const COMPOUND: [&str; 10] = ["欧阳", "上官", "司马", "诸葛", "东方", "皇甫", "尉迟", "公孙", "慕容", "司徒"];

/// How the words of a name are closed.
#[derive(PartialEq)]
enum Closing {
    Blank,
    Delimiter,
    /// Nothing closes it, or what is between is too long for a name.
    Open,
}

/// The end of the name that begins at `start` behind an at-sign, where letters and digits end at `end`; `None` if there is none.
pub(super) fn end_of_name(text: &str, start: usize, end: usize) -> Option<usize> {
    let run = &text[start..end];
    let han = |c: char| ('\u{3400}'..='\u{9fff}').contains(&c);
    if !run.contains(han) {
        return Some(end);
    }
    let chars = run.chars().count();
    let closing = match text[end..].chars().next() {
        Some(c) if c.is_whitespace() => Closing::Blank,
        Some(c) if !c.is_alphanumeric() && chars <= 8 => Closing::Delimiter,
        None if chars <= 5 => Closing::Delimiter,
        _ => Closing::Open,
    };
    let words = shared_jieba().tag(run, false);
    let (first, tag) = words.first().map_or(("", ""), |word| (word.word, word.tag));
    if SIGNS.contains(&first) {
        return None;
    }
    let asks = ASKING.iter().any(|word| run.contains(word));
    // Users call themselves `爱笑的云`: what a blank closes may begin with a verb.
    if !asks
        && (closing == Closing::Blank
            || closing == Closing::Delimiter && (is_family(first) || !is_sentence_word(tag)))
    {
        let joined = words
            .last()
            .filter(|word| closing == Closing::Delimiter && word.tag.starts_with(['c', 'u', 'y', 'p']));
        return Some(end - joined.map_or(0, |word| word.word.len())).filter(|end| *end > start);
    }
    let latin = run.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    if latin > 1 {
        return Some(start + latin);
    }
    if tag.starts_with("nr") && (2..=4).contains(&first.chars().count()) {
        return Some(start + first.len());
    }
    let named = words.iter().enumerate().take_while(|(at, word)| {
        *at == 0 && is_family(word.word) || !is_sentence_word(word.tag) && !ASKING.contains(&word.word)
    });
    let length: usize = named.map(|(_, word)| word.word.len()).sum();
    is_full_name(&run[..length]).then_some(start + length)
}

/// Whether a word is a family name, which the dictionary calls a measure or a verb, too: `张`.
fn is_family(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| FAMILIES.contains(c)) && chars.next().is_none()
}

/// Pronouns, verbs, adverbs, prepositions, conjunctions, particles, times, places and measures.
fn is_sentence_word(tag: &str) -> bool {
    tag.starts_with(['r', 'v', 'd', 'p', 'c', 'u', 'y', 't', 'f', 'q'])
}

/// Whether a word has a family name with one or two characters behind it, or is like `小明`; and nothing else.
fn is_full_name(name: &str) -> bool {
    let family = COMPOUND
        .iter()
        .find(|family| name.starts_with(**family))
        .map(|family| family.len())
        .or_else(|| name.chars().next().filter(|c| FAMILIES.contains(*c)).map(char::len_utf8));
    let fits = match family {
        Some(family) => (1..=2).contains(&name[family..].chars().count()),
        None => name.starts_with(['小', '老', '阿']) && name.chars().count() == 2,
    };
    fits && !shared_jieba().has_word(name)
}

#[cfg(test)]
mod tests {
    use crate::text::anonymise::Anonymiser;

    #[test]
    fn a_mention_takes_no_word_of_the_sentence() {
        for (before, after) in [
            ("@小明为什么冰箱里会亮", "@[人名]为什么冰箱里会亮"),
            ("@张三丰为什么冰箱里的灯关门以后还亮着？", "@[人名]为什么冰箱里的灯关门以后还亮着？"),
            ("@王大锤你家的门为什么朝里开", "@[人名]你家的门为什么朝里开"),
            ("@欧阳锋怎么还没来", "@[人名]怎么还没来"),
            ("请问@小王为什么不吃鱼", "请问@[人名]为什么不吃鱼"),
            ("谢谢@moon_child的图，真好看", "谢谢@[人名]的图，真好看"),
            ("谢谢@moon_child为什么给我发图", "谢谢@[人名]为什么给我发图"),
            ("一个@符号值多少钱", "一个@符号值多少钱"),
            ("用户名里的@是什么意思呢请问大家", "用户名里的@是什么意思呢请问大家"),
            ("键盘上的@在哪个键上", "键盘上的@在哪个键上"),
            ("把@放在后面，会怎样", "把@放在后面，会怎样"),
            ("请@张三和@李四", "请@[人名]和@[人名]"),
            ("@爱笑的云 你来看", "@[人名] 你来看"),
            ("@一朵乌云：你来看", "@[人名]：你来看"),
        ] {
            assert_eq!(Anonymiser::default().apply(before, &[]).text, after);
        }
        let known = Anonymiser::default().apply("@云中鹤为什么会飞", &["云中鹤"]).text;
        assert_eq!(known, "@[人名]为什么会飞");
    }
}
