//! Personal data in texts: finds it and marks, removes or refuses it by kind.
//!
//! What is found never leaves this module: evidence holds kinds and places, not the words. One kind of rule
//! per file; [`DataKind::ALL`] orders them if two claim the same characters.

mod account;
mod chinese;
mod english;
mod european;
mod kind;
mod listed;
mod mention;
mod money;
mod name;
mod service;
mod spelling;

pub use kind::{DataKind, NOT_SOUGHT, consists_of_marks};
pub use listed::{HashedName, NameKey, NameList, NamesError, names_nobody};

use std::borrow::Cow;
use std::collections::BTreeMap;

/// What happens to personal data of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Action {
    /// It is replaced by a typed mark.
    #[default]
    Mark,
    /// It is removed without a replacement.
    Remove,
    /// The whole record is dropped ([`Anonymised::refused`]); the text is marked nevertheless.
    Refuse,
    /// It is kept.
    Keep,
}

/// The action for each kind, and names that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnonymiseSettings {
    /// Addresses on the web.
    pub links: Action,
    /// E-mail addresses.
    pub emails: Action,
    /// Identity numbers.
    pub id_cards: Action,
    /// Numbers of bank accounts and payment cards.
    pub accounts: Action,
    /// Telephone numbers.
    pub phones: Action,
    /// QQ numbers.
    pub qq: Action,
    /// WeChat accounts.
    pub wechat: Action,
    /// Street addresses.
    pub addresses: Action,
    /// Users' names.
    pub names: Action,
    /// Names that are always kept, because jokes are about them.
    pub public_names: Vec<String>,
    /// Whether the marks are English words.
    pub english: bool,
}

impl Default for AnonymiseSettings {
    fn default() -> AnonymiseSettings {
        let public = [
            "葛军",
            "杨永信",
            "李宁",
            "鲁迅",
            "李白",
            "杜甫",
            "孔子",
            "马云",
            "马化腾",
            "刘翔",
            "姚明",
            "爱因斯坦",
            "牛顿",
            "霍金",
            "特朗普",
            "马斯克",
            "郭敬明",
            "孙悟空",
            "葫芦娃",
        ];
        AnonymiseSettings {
            links: Action::Mark,
            emails: Action::Mark,
            id_cards: Action::Mark,
            accounts: Action::Mark,
            phones: Action::Mark,
            qq: Action::Mark,
            wechat: Action::Mark,
            addresses: Action::Mark,
            names: Action::Mark,
            public_names: public.map(str::to_owned).to_vec(),
            english: false,
        }
    }
}

impl AnonymiseSettings {
    /// The action for a kind.
    pub fn action_for(&self, kind: DataKind) -> Action {
        match kind {
            DataKind::Link => self.links,
            DataKind::Email => self.emails,
            DataKind::IdCard => self.id_cards,
            DataKind::Iban | DataKind::Card => self.accounts,
            DataKind::Phone => self.phones,
            DataKind::Qq => self.qq,
            DataKind::WeChat => self.wechat,
            DataKind::Address => self.addresses,
            DataKind::Name => self.names,
        }
    }
}

/// Where personal data was in the original text, without the data itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DataMark {
    /// What kind it was.
    pub kind: DataKind,
    /// Where it started, in characters.
    pub start_char: usize,
    /// How long it was, in characters.
    pub len_chars: usize,
}

/// A text without personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anonymised<'a> {
    /// The text; borrowed if nothing was found.
    pub text: Cow<'a, str>,
    /// What was found, in order, without kinds that are kept.
    pub marks: Vec<DataMark>,
    /// Whether a kind was found that the settings refuse.
    pub refused: bool,
}

impl Anonymised<'_> {
    /// Kinds and counts, `phone 1, name 2`: safe for a ledger.
    pub fn evidence(&self) -> String {
        let counts = DataKind::ALL.iter().filter_map(|kind| {
            let count = self.marks.iter().filter(|mark| mark.kind == *kind).count();
            (count > 0).then(|| format!("{} {count}", kind.code()))
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// A place in a text, in bytes.
#[derive(Clone, Copy, Debug)]
struct FoundSpan {
    kind: DataKind,
    start: usize,
    end: usize,
}

/// Finds personal data and treats it by the settings.
#[derive(Clone, Debug, Default)]
pub struct Anonymiser {
    settings: AnonymiseSettings,
}

impl Anonymiser {
    /// An anonymiser with these settings.
    pub fn new(settings: AnonymiseSettings) -> Anonymiser {
        Anonymiser { settings }
    }

    /// Anonymises a text; `names` are those of the record's own author and users.
    ///
    /// ```
    /// # use riddlemill_text::text::anonymise::Anonymiser;
    /// let anonymiser = Anonymiser::default();
    /// let done = anonymiser.apply("打13800138000找云中鹤，葛军不在", &["云中鹤"]);
    /// assert_eq!(done.text, "打[电话]找[人名]，葛军不在");
    /// assert_eq!(done.evidence(), "phone 1, name 1");
    /// ```
    pub fn apply<'a>(&self, text: &'a str, names: &[&str]) -> Anonymised<'a> {
        let mut found = Vec::new();
        let signs = Signs::scan_text(text);
        if signs.latin {
            account::find_links(text, &mut found);
            account::find_wechat_accounts(text, &mut found);
            name::find_accounts(text, &mut found);
            service::find_service_accounts(text, &mut found);
            if signs.digit {
                english::find_addresses(text, &mut found);
                european::find_addresses(text, &mut found);
            }
        }
        if signs.at || ["at]", "at)", "AT]", "AT)", "at）", "艾特"].iter().any(|at| text.contains(at)) {
            account::find_emails(text, &mut found);
        }
        if signs.digits {
            chinese::find_identities(text, &mut found);
            chinese::find_phones(text, &mut found);
            money::find_cards(text, &mut found);
            english::find_phones(text, &mut found);
            european::find_phones(text, &mut found);
            english::social_security(text, &mut found);
            account::find_qq_numbers(text, &mut found);
            money::find_ibans(text, &mut found);
            // An account may be a number after Chinese words, without any Latin letter.
            if !signs.latin {
                account::find_wechat_accounts(text, &mut found);
                service::find_service_accounts(text, &mut found);
            }
        }
        if counts_in_chinese(text) {
            chinese::find_spelled_phones(text, &mut found);
        }
        if text.contains(['号', '栋', '幢', '单', '號', '棟', '單'])
            && (signs.digit || counts_in_chinese(text))
        {
            chinese::find_addresses(text, &mut found);
        }
        name::find_names(text, names, signs.at, &self.settings.public_names, &mut found);
        // Before overlaps are settled: a kind that is kept must not hide one that is marked.
        found.retain(|found| self.settings.action_for(found.kind) != Action::Keep);
        if found.is_empty() {
            return Anonymised { text: Cow::Borrowed(text), marks: Vec::new(), refused: false };
        }
        self.replace_found(text, settle_overlaps(found))
    }

    fn replace_found<'a>(&self, text: &'a str, found: Vec<FoundSpan>) -> Anonymised<'a> {
        let mut out = String::with_capacity(text.len());
        let mark = if self.settings.english { DataKind::english_mark } else { DataKind::mark };
        let (mut at, mut chars, mut marks, mut refused) = (0, 0, Vec::new(), false);
        for found in found {
            chars += text[at..found.start].chars().count();
            out.push_str(&text[at..found.start]);
            let len_chars = text[found.start..found.end].chars().count();
            marks.push(DataMark { kind: found.kind, start_char: chars, len_chars });
            match self.settings.action_for(found.kind) {
                Action::Remove | Action::Keep => {}
                Action::Refuse => {
                    refused = true;
                    out.push_str(mark(found.kind));
                }
                Action::Mark => out.push_str(mark(found.kind)),
            }
            chars += len_chars;
            at = found.end;
        }
        out.push_str(&text[at..]);
        Anonymised { text: Cow::Owned(out), marks, refused }
    }
}

/// Of overlapping finds, keeps the more certain kind, then the longer; in order. Kept finds do not overlap,
/// so each new one has to be compared only with its neighbours: time per find does not grow with the text.
fn settle_overlaps(mut found: Vec<FoundSpan>) -> Vec<FoundSpan> {
    let rank = |kind: DataKind| DataKind::ALL.iter().position(|k| *k == kind);
    found.sort_by_key(|f| (rank(f.kind), std::cmp::Reverse(f.end - f.start), f.start));
    let mut kept: BTreeMap<usize, FoundSpan> = BTreeMap::new();
    for one in found {
        let before = kept.range(..one.end).next_back();
        if before.is_none_or(|(_, k)| k.end <= one.start) {
            kept.insert(one.start, one);
        }
    }
    kept.into_values().collect()
}

/// Which rules can find anything at all, judged by the bytes of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Signs {
    /// A digit of either width.
    digit: bool,
    /// At least five digits.
    digits: bool,
    /// At least four Latin letters, dots or slashes: a link or an account.
    latin: bool,
    /// An at-sign.
    at: bool,
}

impl Signs {
    fn scan_text(text: &str) -> Signs {
        let bytes = text.as_bytes();
        let mut digits = count_bytes(bytes, |b| b.is_ascii_digit());
        let latin = count_bytes(bytes, |b| b.is_ascii_alphabetic() || b == b'.' || b == b'/');
        let mut at = bytes.contains(&b'@');
        for wide in memchr::memchr_iter(0xef, bytes) {
            match text[wide..].chars().next() {
                Some('０'..='９') => digits += 1,
                Some('＠') => at = true,
                _ => {}
            }
        }
        Signs { digit: digits > 0, digits: digits >= 5, latin: latin >= 4, at }
    }
}

/// How many bytes match. Counted in a byte first, so that the loop vectorises.
fn count_bytes(bytes: &[u8], is_counted: impl Fn(u8) -> bool) -> usize {
    let some = |some: &[u8]| usize::from(some.iter().map(|b| u8::from(is_counted(*b))).sum::<u8>());
    bytes.chunks(u8::MAX.into()).map(some).sum()
}

/// Whether a text with Chinese digits may contain a number.
fn counts_in_chinese(text: &str) -> bool {
    text.contains(['一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百'])
}

#[cfg(test)]
mod tests;
