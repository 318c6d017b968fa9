//! Kinds of personal data, with the texts that documentation and reports print.

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
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

impl Kind {
    /// Every kind, the more certain ones first: if two claim the same characters, the earlier wins.
    pub const ALL: &[Kind] = &[
        Kind::Link,
        Kind::Email,
        Kind::IdCard,
        Kind::Iban,
        Kind::Card,
        Kind::WeChat,
        Kind::Qq,
        Kind::Phone,
        Kind::Address,
        Kind::Name,
    ];

    /// The stable name in ledgers and reports.
    pub fn code(self) -> &'static str {
        match self {
            Kind::Link => "link",
            Kind::Email => "email",
            Kind::IdCard => "id_card",
            Kind::Iban => "iban",
            Kind::Card => "card",
            Kind::Phone => "phone",
            Kind::Qq => "qq",
            Kind::WeChat => "wechat",
            Kind::Address => "address",
            Kind::Name => "name",
        }
    }

    /// The mark that replaces it.
    pub fn mark(self) -> &'static str {
        match self {
            Kind::Link => "[链接]",
            Kind::Email => "[邮箱]",
            Kind::IdCard => "[身份证]",
            Kind::Iban => "[账号]",
            Kind::Card => "[银行卡]",
            Kind::Phone => "[电话]",
            Kind::Qq => "[QQ]",
            Kind::WeChat => "[微信]",
            Kind::Address => "[地址]",
            Kind::Name => "[人名]",
        }
    }

    /// [`Kind::mark`] for English texts.
    pub fn english_mark(self) -> &'static str {
        match self {
            Kind::Link => "[link]",
            Kind::Email => "[e-mail]",
            Kind::IdCard => "[identity number]",
            Kind::Iban => "[account number]",
            Kind::Card => "[card number]",
            Kind::Phone => "[phone]",
            Kind::Qq => "[QQ]",
            Kind::WeChat => "[WeChat]",
            Kind::Address => "[address]",
            Kind::Name => "[name]",
        }
    }

    /// What counts as one, in one sentence.
    pub fn definition(self) -> &'static str {
        match self {
            Kind::Link => "An address with `http://`, `www.` or a domain followed by a path.",
            Kind::Email => "An e-mail address.",
            Kind::IdCard => {
                "Eighteen characters with a plausible date of birth and the right check character (China), or a social security \
                 number with hyphens or with these words before it (USA)."
            }
            Kind::Iban => "An IBAN of a country that has them, with the right length and check digits.",
            Kind::Card => {
                "Thirteen to nineteen digits with the beginning, the length and the check digit (Luhn) of a card network."
            }
            Kind::Phone => {
                "A mobile number or a landline with its area code (China); a number with `+` or `00` and a country's calling code \
                 and length; an area code and a number (North America, Britain, Ireland, Australia, New Zealand); or a number that \
                 the text calls one."
            }
            Kind::Qq => "Five to eleven digits that the text calls a QQ or group number.",
            Kind::WeChat => "An account that the text calls one of WeChat.",
            Kind::Address => {
                "A street with house number, in a named city or with a unit; or a unit of a named estate. In English also one with a \
                 postal code, or one where the text says that somebody lives or that something is sent; a post-office box."
            }
            Kind::Name => {
                "A user's name handed in with the post, a mention (`@name`, `u/name`), or the name in `回复 …：`."
            }
        }
    }

    /// A text before and after.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            Kind::Link => ("打开http://example.com/p/1看云", "打开[链接]看云"),
            Kind::Email => ("写信到cloud@example.com吧", "写信到[邮箱]吧"),
            Kind::IdCard => ("我是11010119900307002X", "我是[身份证]"),
            Kind::Iban => ("转到GB82 WEST 1234 5698 7654 32吧", "转到[账号]吧"),
            Kind::Card => ("卡号4111 1111 1111 1111", "卡号[银行卡]"),
            Kind::Phone => ("打13800138000找云", "打[电话]找云"),
            Kind::Qq => ("QQ：100012345", "QQ：[QQ]"),
            Kind::WeChat => ("微信：cloud_9527", "微信：[微信]"),
            Kind::Address => ("我住在云南市白云区彩虹路7号2单元301室", "我住在[地址]"),
            Kind::Name => ("回复 云中鹤 :你会飞吗", "回复 [人名] :你会飞吗"),
        }
    }

    /// [`Kind::example`] for English texts.
    pub fn english_example(self) -> (&'static str, &'static str) {
        match self {
            Kind::Link => ("See http://example.com/p/1 now.", "See [link] now."),
            Kind::Email => ("Write to cloud@example.com!", "Write to [e-mail]!"),
            Kind::IdCard => ("My SSN is 219-09-9999.", "My SSN is [identity number]."),
            Kind::Iban => ("Pay to GB82 WEST 1234 5698 7654 32.", "Pay to [account number]."),
            Kind::Card => ("My card is 4111-1111-1111-1111.", "My card is [card number]."),
            Kind::Phone => ("Ring +1 212 736 5000 at night.", "Ring [phone] at night."),
            Kind::Qq => ("QQ: 100012345", "QQ: [QQ]"),
            Kind::WeChat => ("WeChat: cloud_9527", "WeChat: [WeChat]"),
            Kind::Address => ("I live at 12 Elm Street, Apt 4B.", "I live at [address]."),
            Kind::Name => ("As u/cloud_man said.", "As u/[name] said."),
        }
    }
}

/// What no rule looks for, in one sentence for people who read what was released.
pub const NOT_SOUGHT: &str = "Not looked for: names of people that are neither the post's own users nor mentions (a joke's people are its \
     content), dates of birth, numbers of passports, driving licences and number plates, identity numbers of other countries than China \
     and the USA, account numbers other than IBANs, IP addresses and coordinates, local telephone numbers that the text does not call \
     so, streets without a house number or without a city, unit, postal code or word of living there, accounts of other services, and \
     anything in pictures.";
