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
                "Eighteen characters with a plausible date of birth and the right check character."
            }
            Kind::Phone => {
                "A mobile number, a landline with its area code, or a number that the text calls one."
            }
            Kind::Qq => "Five to eleven digits that the text calls a QQ or group number.",
            Kind::WeChat => "An account that the text calls one of WeChat.",
            Kind::Address => {
                "A street with house number, in a named city or with a unit; or a unit of a named estate."
            }
            Kind::Name => "A user's name handed in with the post, a mention, or the name in `回复 …：`.",
        }
    }

    /// A text before and after.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            Kind::Link => ("打开http://example.com/p/1看云", "打开[链接]看云"),
            Kind::Email => ("写信到cloud@example.com吧", "写信到[邮箱]吧"),
            Kind::IdCard => ("我是11010119900307002X", "我是[身份证]"),
            Kind::Phone => ("打13800138000找云", "打[电话]找云"),
            Kind::Qq => ("QQ：100012345", "QQ：[QQ]"),
            Kind::WeChat => ("微信：cloud_9527", "微信：[微信]"),
            Kind::Address => ("我住在云南市白云区彩虹路7号2单元301室", "我住在[地址]"),
            Kind::Name => ("回复 云中鹤 :你会飞吗", "回复 [人名] :你会飞吗"),
        }
    }
}
