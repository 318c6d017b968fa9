//! Synthetic posts. A post is a function of its number alone, so a corpus of any size begins with every
//! smaller one. One in sixteen is an edited copy of an earlier post. All words and sentences here are the
//! project's own.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

pub const THINGS: &[&str] = &[
    "冰箱", "雨伞", "路灯", "闹钟", "楼梯", "枕头", "钥匙", "月亮", "影子", "地图", "电梯", "镜子", "烟囱",
    "井盖", "书包", "风筝", "算盘", "锅盖", "毛衣", "橡皮", "信封", "梯子", "水桶", "车票", "窗帘", "筷子",
    "肥皂", "拖鞋",
];
const PEOPLE: &[&str] = &[
    "我", "邻居", "医生", "厨师", "裁缝", "保安", "会计", "渔夫", "老师", "司机", "木匠", "店长", "我爸",
    "同桌",
];
const DEEDS: &[&str] = &[
    "睡着", "迷路", "辞职", "毕业", "请假", "唱歌", "后退", "融化", "排队", "散步", "发芽", "过期", "失眠",
    "搬家",
];
const PLACES: &[&str] = &["超市", "河边", "屋顶", "地铁", "教室", "沙漠", "邮局", "厨房", "机场", "山洞"];
const TIMES: &[&str] = &["昨天", "半夜", "去年", "下雨天", "周一", "退休以后", "考试前", "二十年前"];
const QUESTIONS: &[&str] = &[
    "{p}把{t}搬到{l}，为什么{u}还是不肯{d}？",
    "{t}如果会{d}，{p}在{l}等它算不算加班？",
    "{w}{p}在{l}捡到一个{t}，要不要替它{d}？",
    "既然{t}能{d}，为什么{l}里的{u}不能？",
    "{p}教{t}{d}，{t}学会了，{p}该不该给{u}交学费？",
];
const STATEMENTS: &[&str] = &[
    "{w}{p}梦见自己是一个{t}，醒来发现{u}已经{d}了。",
    "{l}的{t}终于{d}了，{p}高兴得像一个{u}。",
    "{p}对{t}说：“你先{d}，我随后就到{l}。”",
    "为了让{t}早点{d}，{p}{w}就把{l}的{u}关掉了。",
];
/// Contents as in the forum: none, a placeholder, the title again, or something else.
const PLACEHOLDERS: &[&str] = &[".", "。", "如题", "RT", "…", "！"];

/// A splitmix64 generator.
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// The text of post `i`, and the post of which it is a copy.
fn text(i: u64) -> (String, Option<u64>) {
    let mut draw = Draw(i ^ 0x5151_1deb_7a11_0000);
    if i > 16 && draw.below(16) == 0 {
        let of = draw.below(i);
        return (edited(text(of).0, &mut draw), Some(of));
    }
    let template = if draw.below(5) < 3 { draw.pick(QUESTIONS) } else { draw.pick(STATEMENTS) };
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        let words = match &rest[at + 1..at + 2] {
            "p" => PEOPLE,
            "d" => DEEDS,
            "l" => PLACES,
            "w" => TIMES,
            _ => THINGS,
        };
        text.push_str(draw.pick(words));
        rest = &rest[at + 3..];
    }
    text.push_str(rest);
    if draw.below(3) == 0 {
        // With only a few hundred templates every tenth post would be a copy of another.
        text = format!("{}号{}：{text}", i % 9973 + 1, draw.pick(PEOPLE));
    }
    // Twelve rare characters make each post unique; without them all posts of a template resemble each other.
    let own: String = (0..12).filter_map(|_| char::from_u32(0x4e00 + draw.below(20_000) as u32)).collect();
    (format!("在{own}，{text}"), None)
}

/// A copy with edits that people make: a character more or less, other punctuation, another word.
fn edited(text: String, draw: &mut Draw) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = draw.below(chars.len() as u64) as usize;
    match draw.below(4) {
        0 => chars.insert(at, '的'),
        1 if chars.len() > 6 => drop(chars.remove(at)),
        2 => chars.extend("！！".chars()),
        _ => chars.iter_mut().filter(|c| **c == '，').for_each(|c| *c = ','),
    }
    chars.into_iter().collect()
}

/// Writes a corpus as rows of list pages.
pub fn write(n: u64, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for i in 0..n {
        let (title, _) = text(i);
        let mut draw = Draw(!i);
        let abs = match draw.below(10) {
            0..=3 => None,
            4 | 5 => Some(draw.pick(PLACEHOLDERS).to_string()),
            6 | 7 => Some(title.clone()),
            8 => Some(format!("{title}\n——来自 示例贴吧客户端")),
            _ => Some(format!("在线等，{}很急。", draw.pick(PEOPLE))),
        };
        let row = serde_json::json!({
            "title": title, "abs": abs, "href": format!("/p/{}?fr=good", 7_000_000_000 + i),
            "lz": format!("示例用户{}", draw.below(50_000)), "n_reply": draw.below(900).to_string(),
        });
        serde_json::to_writer(&mut out, &row)?;
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}
