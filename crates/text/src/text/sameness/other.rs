//! Vetoes on pairs of texts in any other language, by their words and without knowing them.
//!
//! What: each has a number that the other lacks; one has a word of denial more; two words take each other's place; or each has a
//! word that is unlike any of the other; of scripts without spaces (Thai, Khmer, Burmese, Lao) any other letter. The pair is one step less similar.
//!
//! Why: only copies with an edit are found here, and an edit that leaves another word, number or order is another text more often than not.
//! An ending, an accent or a slip of the hand is no other word.
//!
//! Known problems: a synonym is another word; of Japanese only ideographs and katakana are words.
//!
//! Example: `¿Por qué los gatos odian el agua?` and `¿Por qué los perros odian el agua?`

use super::PreparedText;
use super::english::only_in;
use super::vetoes::Veto;
use super::words::{Script, script_of};
use super::{numbers, order};

/// Words of denial, one for each denial: of French `pas` and not `ne`.
const DENIALS: [&str; 46] = [
    "no",
    "nunca",
    "jamas",
    "sin",
    "tampoco",
    "nadie",
    "pas",
    "jamais",
    "sans",
    "aucun",
    "aucune",
    "nicht",
    "nie",
    "niemals",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "ohne",
    "niet",
    "nooit",
    "geen",
    "non",
    "mai",
    "senza",
    "nao",
    "sem",
    "nem",
    "не",
    "нет",
    "никогда",
    "без",
    "inte",
    "ikke",
    "ei",
    "khong",
    "tidak",
    "bukan",
    "degil",
    "nu",
    "nem",
    "안",
    "못",
    "لا",
    "ليس",
    "नही",
];

/// Parts of words of denial, in Japanese, Korean and Thai.
const DENYING: [&str; 9] = ["ない", "ません", "なかっ", "なく", "않", "없", "아니", "ไม่", "ไม"];

pub(super) fn find_veto(a: &PreparedText, b: &PreparedText) -> Option<Veto> {
    if numbers::have_differing_numbers(&a.chars, &b.chars) {
        return Some(Veto::Number);
    }
    if count_denials(a) % 2 != count_denials(b) % 2 {
        return Some(Veto::Negation);
    }
    if unspaced(a) != unspaced(b) {
        return Some(Veto::Subject);
    }
    let symbols = |text: &PreparedText| text.words().symbols().chars().collect::<Vec<_>>();
    if order::are_in_other_order(&symbols(a), &symbols(b), false) {
        return Some(Veto::Order);
    }
    let (own, other) = (only_in(a, b), only_in(b, a));
    let names = |words: &[&str], others: &[&str]| {
        words.iter().any(|word| is_name(word) && !others.iter().any(|other| is_variant(word, other)))
    };
    (names(&own, &other) && names(&other, &own)).then_some(Veto::Subject)
}

/// What is written without spaces and with no words that can be told apart: any letter of it may make another word. Letters that are
/// repeated, and the sign of repetition, make none.
fn unspaced(text: &PreparedText) -> Vec<char> {
    let mut letters: Vec<char> = text
        .chars
        .iter()
        .copied()
        .filter(|c| script_of(*c) == Script::Unspaced && !matches!(c, 'ๆ' | 'ໆ' | 'ៗ'))
        .collect();
    letters.dedup();
    letters
}

fn count_denials(text: &PreparedText) -> usize {
    text.words()
        .iter_stems()
        .filter(|word| DENIALS.contains(word) || DENYING.iter().any(|part| word.contains(part)))
        .count()
}

/// Whether a word is long enough to name something.
fn is_name(word: &str) -> bool {
    let least = match word.chars().next().map(script_of) {
        Some(Script::Alone) => 1,
        Some(Script::Hangul | Script::Katakana) => 2,
        Some(Script::Spaced) => 3,
        Some(Script::Hiragana | Script::Unspaced | Script::Number) | None => return false,
    };
    word.chars().nth(least - 1).is_some()
}

/// Whether two words are one, but for a slip of the hand or an ending.
fn is_variant(a: &str, b: &str) -> bool {
    let least = a.chars().count().min(b.chars().count());
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let same_beginning = match a.chars().next().map(script_of) {
        Some(Script::Alone) => return false,
        Some(Script::Hangul) => 2 * common >= least && common > 0,
        _ => common >= 3 && 5 * common >= 3 * least,
    };
    let changed = rapidfuzz::distance::levenshtein::distance(a.chars(), b.chars());
    same_beginning || least >= 4 && changed <= 1 + least / 7
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::Verdict;
    use crate::text::sameness::tests::compare_as_detected;

    #[test]
    fn another_word_number_order_or_denial_is_another_text() {
        for (a, b) in [
            ("¿Por qué los gatos odian a los perros?", "¿Por qué los perros odian a los gatos?"),
            ("¿Por qué los gatos odian el agua?", "¿Por qué los perros odian el agua?"),
            ("¿Por qué mi gato quiere comer?", "¿Por qué mi gato no quiere comer?"),
            ("Pourquoi le ciel est bleu la nuit ?", "Pourquoi le ciel n'est pas bleu la nuit ?"),
            (
                "Pourquoi les chats détestent-ils l'eau froide ?",
                "Pourquoi les chiens détestent-ils l'eau froide ?",
            ),
            ("Dans 5 minutes, le chat part où ?", "Dans 50 minutes, le chat part où ?"),
            ("Warum schläft der Hund nicht nachts?", "Warum schläft der Hund nachts?"),
            ("Warum fressen Katzen keine Hunde?", "Warum fressen Hunde keine Katzen?"),
            ("Почему кошки боятся собак?", "Почему кошки не боятся собак?"),
            ("Почему кошки не любят собак?", "Почему собаки не любят кошек?"),
            ("Hat ein Jahr 365 Tage oder mehr?", "Hat ein Jahr 366 Tage oder mehr?"),
            ("猫はなぜ犬を追いかけるのですか", "犬はなぜ猫を追いかけるのですか"),
            ("猫はなぜ水を飲むのですか", "犬はなぜ水を飲むのですか"),
            ("猫はなぜ毎日お水を飲むのですか", "猫はなぜ毎日お水を飲まないのですか"),
            ("고양이는 왜 개를 싫어하나요?", "개는 왜 고양이를 싫어하나요?"),
            ("고양이는 왜 물을 마시나요?", "고양이는 왜 물을 안 마시나요?"),
            ("Tại sao con mèo của tôi thích nước?", "Tại sao con mèo của tôi không thích nước?"),
            ("ฉันรักแมวของฉันมากที่สุดในโลก", "ฉันเกลียดแมวของฉันมากที่สุดในโลก"),
            ("ทำไมแมวของฉันไม่ชอบอาบน้ำตอนเช้า", "ทำไมหมาของฉันไม่ชอบอาบน้ำตอนเช้า"),
            ("ហេតុអ្វីឆ្មារបស់ខ្ញុំមិនចូលចិត្តទឹក", "ហេតុអ្វីឆ្កែរបស់ខ្ញុំមិនចូលចិត្តទឹក"),
            ("ကျွန်တော့်ကြောင်ကဘာလို့ရေမကြိုက်တာလဲ", "ကျွန်တော့်ခွေးကဘာလို့ရေမကြိုက်တာလဲ"),
        ] {
            let pair = compare_as_detected(a, b);
            assert_ne!(pair.verdict, Verdict::Same, "{a} {b} {pair:?}");
        }
    }

    #[test]
    fn a_copy_with_an_edit_is_the_same() {
        for (a, b) in [
            (
                "Pourquoi les chats dorment-ils toute la journée ?",
                "pourquoi les chats dorment ils toute la journee",
            ),
            ("¿Por qué los gatos duermen todo el día?", "Por que los gatos duermen todo el dia??"),
            ("Warum schlafen Katzen den ganzen Tag?", "Warum schlafen denn Katzen den ganzen Tag?"),
            ("Почему кошки спят весь день?", "Почему кошка спит весь день?"),
            ("猫はなぜ一日中寝ているのですか", "猫はなぜ一日中寝てるのですか？"),
            ("고양이는 왜 하루 종일 자나요?", "고양이가 왜 하루종일 자나요?"),
            ("ทำไมแมวของฉันไม่ชอบอาบน้ำตอนเช้า", "ทำไมแมวของฉันไม่ชอบอาบน้ำตอนเช้าาาา!!"),
            ("Por que os gatos dormem o dia inteiro?", "Por que os gatos dormem o dia inteiro mesmo?"),
        ] {
            let pair = compare_as_detected(a, b);
            assert_eq!(pair.verdict, Verdict::Same, "{a} {b} {pair:?}");
        }
    }
}
