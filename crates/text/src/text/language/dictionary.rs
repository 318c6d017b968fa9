//! Words of English: the bundled dictionary as a set, which is also the one by which puzzles are spelt, and the words that tell
//! English from other languages in Latin letters.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// The words of the dictionary of Debian's hunspell-en-us, made from SCOWL, in Hunspell's form; its licence is in the same
/// folder.
pub static HUNSPELL: &str = include_str!("../../puzzle/dictionary/en_US.dic");

/// Words in small letters, without their endings. Names are not among them.
static WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| {
    let stems = HUNSPELL.lines().skip(1).map(|line| line.split_once('/').map_or(line, |(stem, _)| stem));
    // Letters are entries of a dictionary, but words of no text.
    let is_word =
        |stem: &&str| stem.starts_with(|c: char| c.is_lowercase()) && (stem.len() > 1 || *stem == "a");
    stems.filter(is_word).collect()
});

/// Whether it knows a word in small letters, or the word without an ending.
pub fn contains(word: &str) -> bool {
    let known = |stem: &str| WORDS.contains(stem);
    known(word)
        || ENDINGS.iter().any(|(ending, instead)| {
            let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 1) else { return false };
            let undoubled =
                stem.strip_suffix(|last: char| stem[..stem.len() - last.len_utf8()].ends_with(last));
            known(&[stem, instead].concat()) || instead.is_empty() && undoubled.is_some_and(known)
        })
}

/// Endings, and what a stem has in place of them.
const ENDINGS: [(&str, &str); 14] = [
    ("'s", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("es", ""),
    ("s", ""),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("er", ""),
    ("er", "e"),
    ("est", ""),
    ("est", "e"),
    ("ly", ""),
];

/// Frequent words of English that the other lists do not have: articles, pronouns, auxiliaries, question words and the verbs
/// and nouns of everyday questions.
pub(super) const ENGLISH: &str = "
the and of to that it its it's for with you your you're yours he his him she her hers they their them they're there
this these those who whom whose which what when where why how would could should will won't can't cannot don't doesn't
didn't isn't aren't wasn't weren't wouldn't couldn't shouldn't i'm i've i'll i'd that's what's who's there's here's let's
have has had having been being do does did done doing are were be not but if then than from by at or as my our ours us
because about into out up down over under after before between through without while during against again once
some any every each many much more most other another such only same very too also just even still ever never always
often sometimes someone somebody anyone anybody everyone everybody nobody nothing something anything everything
get gets got give gives gave make makes made take takes took taken go goes went gone going come comes came
say says said tell tells told think thinks thought know knows knew known want wants wanted need needs needed
use uses used like likes liked look looks looked call calls called work works worked keep keeps kept
people person man's woman women men child children kid kids life day days night year years time times way world
first last next new old good better best bad worse worst big small long short little great right wrong real
eat eats ate eating drink drinks sleep sleeps sleeping buy buys bought sell wear wears walk walks run runs
does anybody's mine ourselves yourself himself herself itself themselves whether though although until unless
one two three four five six seven eight nine ten half both few own off
water fish dog dogs cat cats bird birds phone car cars money house door doors light dark head hand hands eyes
mean means meant call called named name names word words question answer joke jokes riddle am was an is in on
";

/// Words of the list above that other languages have, too: they count less.
pub(super) const SHARED: &str = "
a i am an as at be by come do for go had has he her him his in is it man me men no not of on one or over so some such
the these time to use was we will were more same other last many long mine name long long even real den per via
";

/// Frequent words of other languages in Latin letters that are no words of English, or rarely: of French, German, Spanish,
/// Portuguese, Italian, Dutch, Swedish, Danish, Polish, Czech, Romanian, Finnish, Turkish, Indonesian, Vietnamese and of
/// Chinese in Pinyin.
pub(super) const FOREIGN: &str = "
le la les un une des du de et est sont pas ne que qui quoi dans pour pourquoi avec sur mais ou où je tu il elle nous vous
ils elles mon ton son ma ta sa mes tes ses ce cette ces aux au plus comment quand parce si être avoir fait faire peut c'est
qu'est n'est d'un d'une l'on l'eau j'ai
der die das den dem ein eine einen einem und ist sind nicht ich du er sie wir ihr mein dein sein wie wer wo warum wenn
weil aber auf mit von zu im für auch noch nur hat haben kann werden wird doch als wieder immer man alle schon gibt
el los las una unos y es son no en del al por porque para con sin pero como cuando donde quien se su sus mi tu lo más muy
qué cómo está están hay ser tiene puede si ya ni eso esta este yo él ella
o os as um uma e é são não em do da dos das no na nos nas por porque para com sem mas como quando onde quem seu sua meu
isso ele ela você está mais muito também já tem pode
il lo gli uno e è sono non di che chi perché per con senza ma come quando dove io tu lui lei noi voi loro mio tuo suo
questo quella più anche della del dei delle nel nella alla sono ho hai hanno cosa
het een en zijn niet ik jij hij zij wij jullie mijn jouw waarom wat hoe als maar op met van naar voor ook nog wel geen
dan dat deze die wordt worden kan kunnen heeft hebben omdat
och att det som inte jag han hon vi ni på av för med om men hur varför vad när kan ska har är ett
og ikke jeg de af til hvad hvorfor hvordan når skal vil
i w na z do nie się że jest są jak dlaczego czy ale po od za przez kto co gdzie kiedy ma mają jego jej
a v na že je jsou jak proč ale co kdo kde když se si mít bude
și în este sunt nu de la cu pe ce cine cum când unde dar pentru că
ja on ei ole että mitä miksi kun kuka missä mutta hän minä sinä se
ve bir bu ne için ile değil mi mı neden niçin nasıl kim ama gibi çok daha var yok
yang dan di ke dari itu ini tidak apa mengapa kenapa siapa bagaimana jika kalau untuk dengan saya kamu dia kita ada bisa
là và của có không cho tôi bạn gì sao tại khi với người một những được
wo ni ta ma de le shi bu wei shenme zai you hui ren
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_known_with_their_endings() {
        for word in ["cat", "cats", "sleeping", "stopped", "riding", "flies", "quickly", "doctor's"] {
            assert!(contains(word), "{word}");
        }
        for word in ["katzen", "dormono", "pourquoi", "xyzzy", "", "s"] {
            assert!(!contains(word), "{word}");
        }
    }
}
