//! Kinds of personal data, with the texts that documentation and reports print.

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DataKind {
    /// An address on the web.
    Link,
    /// An e-mail address.
    Email,
    /// A citizen's identity number.
    IdCard,
    /// An international bank account number.
    Iban,
    /// The number of a payment card.
    Card,
    /// A telephone number.
    Phone,
    /// A QQ or QQ group number.
    Qq,
    /// A WeChat account.
    WeChat,
    /// A street address.
    Address,
    /// A user's name.
    Name,
}

impl DataKind {
    /// Every kind, the more certain ones first: if two claim the same characters, the earlier wins.
    pub const ALL: &[DataKind] = &[
        DataKind::Link,
        DataKind::Email,
        DataKind::IdCard,
        DataKind::Iban,
        DataKind::Card,
        DataKind::WeChat,
        DataKind::Qq,
        DataKind::Phone,
        DataKind::Address,
        DataKind::Name,
    ];

    /// The stable name in ledgers and reports.
    pub fn code(self) -> &'static str {
        match self {
            DataKind::Link => "link",
            DataKind::Email => "email",
            DataKind::IdCard => "id_card",
            DataKind::Iban => "iban",
            DataKind::Card => "card",
            DataKind::Phone => "phone",
            DataKind::Qq => "qq",
            DataKind::WeChat => "wechat",
            DataKind::Address => "address",
            DataKind::Name => "name",
        }
    }

    /// The mark that replaces it.
    pub fn mark(self) -> &'static str {
        match self {
            DataKind::Link => "[链接]",
            DataKind::Email => "[邮箱]",
            DataKind::IdCard => "[身份证]",
            DataKind::Iban => "[账号]",
            DataKind::Card => "[银行卡]",
            DataKind::Phone => "[电话]",
            DataKind::Qq => "[QQ]",
            DataKind::WeChat => "[微信]",
            DataKind::Address => "[地址]",
            DataKind::Name => "[人名]",
        }
    }

    /// [`DataKind::mark`] for English texts.
    pub fn english_mark(self) -> &'static str {
        match self {
            DataKind::Link => "[link]",
            DataKind::Email => "[e-mail]",
            DataKind::IdCard => "[identity number]",
            DataKind::Iban => "[account number]",
            DataKind::Card => "[card number]",
            DataKind::Phone => "[phone]",
            DataKind::Qq => "[QQ]",
            DataKind::WeChat => "[WeChat]",
            DataKind::Address => "[address]",
            DataKind::Name => "[name]",
        }
    }

    /// What counts as one, in one sentence.
    pub fn definition(self) -> &'static str {
        match self {
            DataKind::Link => "An address with `http://`, `www.` or a domain followed by a path.",
            DataKind::Email => "An e-mail address.",
            DataKind::IdCard => {
                "Eighteen characters with a plausible date of birth and the right check character (China), fifteen or eighteen that the \
                 text calls an identity number, or a social security number with hyphens or with these words before it (USA)."
            }
            DataKind::Iban => "An IBAN of a country that has them, with the right length and check digits.",
            DataKind::Card => {
                "Thirteen to nineteen digits with the beginning, the length and the check digit (Luhn) of a card network, or \
                 that the text calls the number of a card."
            }
            DataKind::Phone => {
                "A mobile number or a landline with its area code (China); a number with `+` or `00` and a country's calling code \
                 and length; an area code and a number (North America, Britain, Ireland, Australia, New Zealand, France, Germany, Russia); or a number that \
                 the text calls one."
            }
            DataKind::Qq => "Five to eleven digits that the text calls a QQ or group number.",
            DataKind::WeChat => "An account that the text calls one of WeChat.",
            DataKind::Address => {
                "A street with house number, in a named city or with a unit; or a unit of a named estate. In English also one with a \
                 postal code, or one where the text says that somebody lives or that something is sent; a post-office box."
            }
            DataKind::Name => {
                "A user's name handed in with the post, a mention (`@name`, `u/name`), the name in `回复 …：`, or an account behind the \
                 name of its service (`Discord: …`, `抖音号…`)."
            }
        }
    }

    /// A text before and after.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            DataKind::Link => ("打开http://example.com/p/1看云", "打开[链接]看云"),
            DataKind::Email => ("写信到cloud@example.com吧", "写信到[邮箱]吧"),
            DataKind::IdCard => ("我是11010119900307002X", "我是[身份证]"),
            DataKind::Iban => ("转到GB82 WEST 1234 5698 7654 32吧", "转到[账号]吧"),
            DataKind::Card => ("卡号4111 1111 1111 1111", "卡号[银行卡]"),
            DataKind::Phone => ("打13800138000找云", "打[电话]找云"),
            DataKind::Qq => ("QQ：100012345", "QQ：[QQ]"),
            DataKind::WeChat => ("微信：cloud_9527", "微信：[微信]"),
            DataKind::Address => ("我住在云南市白云区彩虹路7号2单元301室", "我住在[地址]"),
            DataKind::Name => ("回复 云中鹤 :你会飞吗", "回复 [人名] :你会飞吗"),
        }
    }

    /// [`DataKind::example`] for English texts.
    pub fn english_example(self) -> (&'static str, &'static str) {
        match self {
            DataKind::Link => ("See http://example.com/p/1 now.", "See [link] now."),
            DataKind::Email => ("Write to cloud@example.com!", "Write to [e-mail]!"),
            DataKind::IdCard => ("My SSN is 219-09-9999.", "My SSN is [identity number]."),
            DataKind::Iban => ("Pay to GB82 WEST 1234 5698 7654 32.", "Pay to [account number]."),
            DataKind::Card => ("My card is 4111-1111-1111-1111.", "My card is [card number]."),
            DataKind::Phone => ("Ring +1 212 736 5000 at night.", "Ring [phone] at night."),
            DataKind::Qq => ("QQ: 100012345", "QQ: [QQ]"),
            DataKind::WeChat => ("WeChat: cloud_9527", "WeChat: [WeChat]"),
            DataKind::Address => ("I live at 12 Elm Street, Apt 4B.", "I live at [address]."),
            DataKind::Name => ("As u/cloud_man said.", "As u/[name] said."),
        }
    }
}

/// Whether a text is marks of personal data, and beside them punctuation at most.
///
/// ```
/// # use riddlemill_text::text::anonymise::consists_of_marks;
/// assert!(consists_of_marks("@[人名] [链接]！") && !consists_of_marks("@[人名] 你好") && !consists_of_marks("！"));
/// ```
pub fn consists_of_marks(text: &str) -> bool {
    if !text.contains('[') {
        return false;
    }
    let mut rest = text.to_owned();
    for kind in DataKind::ALL {
        for mark in [kind.mark(), kind.english_mark()] {
            rest = rest.replace(mark, " ");
        }
    }
    rest.len() < text.len() && !rest.contains(char::is_alphanumeric)
}

/// What no rule looks for, in one sentence for people who read what was released.
pub const NOT_SOUGHT: &str = "Not looked for: names of people that are neither the post's own users nor mentions (a joke's people are its \
     content), dates of birth, numbers of passports, driving licences and number plates, identity numbers of other countries than China \
     and the USA, account numbers other than IBANs, IP addresses and coordinates, local telephone numbers that the text does not call \
     so, streets without a house number or without a city, unit, postal code or word of living there, accounts of letters alone behind a service, and \
     anything in pictures.";
