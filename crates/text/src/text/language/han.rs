//! Texts of ideographs alone: Chinese, or Japanese without kana.
//!
//! What: characters that only one of the two writes speak for it: of Japanese those of its standard that neither Chinese one has (`駅`),
//! or a traditional one beside a simplified one that Japanese has, too (`東` and `学`); of Chinese those that the Japanese standard does not
//! have (`鱼`, `嗎`), and pronouns and particles.
//!
//! Known problems: `大学生活` is both; a text as short as a saying of four characters is then in an unknown language.

use std::sync::LazyLock;

use encoding_rs::{BIG5, EUC_JP, Encoding, GBK};

/// Pronouns, particles and frequent words of Chinese that Japanese does not write.
const CHINESE: &str = "你您她它吗嗎呢吧啊么麼什這这哪谁誰們们很没沒就说說给給还還都會让讓把被嘛啦哦吃喝";

/// At most so many characters say nothing without one that is of one language.
const SAYING: usize = 4;

/// Who writes a character.
#[derive(Clone, Copy, Default)]
struct Standards {
    simplified: bool,
    traditional: bool,
    japanese: bool,
}

/// By character from [`FIRST`] on.
static STANDARDS: LazyLock<Vec<Standards>> = LazyLock::new(|| {
    let has = |encoding: &'static Encoding, c: char, first: u8| {
        let mut buffer = [0; 4];
        let (bytes, _, lost) = encoding.encode(c.encode_utf8(&mut buffer));
        !lost && matches!(*bytes, [lead, trail] if lead >= first && (encoding == BIG5 || trail >= 0xa1))
    };
    let of = |c| Standards {
        simplified: has(GBK, c, 0xb0),
        traditional: has(BIG5, c, 0xa4),
        japanese: has(EUC_JP, c, 0xb0),
    };
    (FIRST..='\u{9fff}').map(of).collect()
});

const FIRST: char = '\u{4e00}';

/// What a text of ideographs is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Chinese.
    Chinese,
    /// Chinese for all that is known: nothing in it is of one language alone.
    Probably,
    /// Japanese, or too little to tell.
    Unknown,
}

/// What the ideographs of a text are in.
pub(super) fn language_of_ideographs(text: &str) -> Written {
    let (mut count, mut chinese, mut japanese, mut old, mut new) = (0, 0, 0, 0, 0);
    for c in text.chars() {
        let Some(of) = (c as usize).checked_sub(FIRST as usize).and_then(|at| STANDARDS.get(at)) else {
            continue;
        };
        count += 1;
        chinese += usize::from(!of.japanese && (of.simplified || of.traditional) || CHINESE.contains(c));
        japanese += usize::from(of.japanese && !of.simplified && !of.traditional);
        old += usize::from(of.japanese && of.traditional && !of.simplified);
        new += usize::from(of.japanese && of.simplified && !of.traditional);
    }
    match chinese {
        0 if japanese > 0 || old > 0 && new > 0 || count <= SAYING => Written::Unknown,
        0 => Written::Probably,
        chinese if japanese > 2 * chinese => Written::Unknown,
        _ => Written::Chinese,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_one_language_writes_tells_them_apart() {
        for (text, written) in [
            ("云朵为什么不会恐高", Written::Chinese),
            ("雲會恐高嗎", Written::Chinese),
            ("鱼会淹死", Written::Chinese),
            ("你好", Written::Chinese),
            ("人生自古皆有死", Written::Probably),
            ("東京駅発車時刻表", Written::Unknown),
            ("東京大学合格発表", Written::Unknown),
            ("電話番号変更", Written::Unknown),
            ("天気予報", Written::Unknown),
            ("日本人", Written::Unknown),
            ("大吉大利", Written::Unknown),
        ] {
            assert_eq!(language_of_ideographs(text), written, "{text}");
        }
    }
}
