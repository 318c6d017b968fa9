//! Names of columns as programs and people write them, and what they are of a post.

/// Columns that show that rows are of a kind: all of the first list, and one of the second unless it is empty.
pub(super) const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("thread-dump", &["pid", "tid", "text"], &["is_comment", "floor"]),
    ("aiotieba", &["tid", "contents"], &[]),
    ("leymore-titles", &["title", "href"], &["abs", "lz"]),
    ("leymore-annual", &["author", "content", "ctime", "l_num"], &[]),
    ("reddit", &["subreddit"], &["selftext", "body"]),
    ("reddit", &["id", "title", "selftext", "created_utc"], &[]),
    ("reddit", &["id", "link_id", "parent_id", "body"], &[]),
    ("cqia", &["instruction", "output"], &[]),
    ("puzzles", &["id", "question", "answer"], &[]),
];

/// What the fixed kinds read of a row; of those that are not here nobody knows.
pub(super) const READ: &[(&str, &[&str])] = &[
    ("leymore-titles", &["title", "abs", "href", "lz", "n_reply"]),
    ("leymore-annual", &["author", "content", "ctime", "l_num"]),
    (
        "reddit",
        &[
            "id",
            "title",
            "selftext",
            "body",
            "link_id",
            "author",
            "created_utc",
            "score",
            "removed_by_category",
            "is_gallery",
            "post_hint",
            "subreddit",
        ],
    ),
    ("cqia", &["instruction", "input"]),
    ("puzzles", &["id", "question", "answer"]),
];

/// Names of columns by the field of a post that they are, the likelier before; without what joins words, in small letters.
pub(super) const COLUMNS: &[(&str, &[&str])] = &[
    (
        "id",
        &[
            "id",
            "pid",
            "postid",
            "tid",
            "threadid",
            "noteid",
            "messageid",
            "msgid",
            "commentid",
            "topicid",
            "statusid",
            "tweetid",
            "weiboid",
            "answerid",
            "questionid",
            "contentid",
            "itemid",
            "idstr",
            "objectid",
            "mid",
            "bid",
            "编号",
            "帖子id",
            "微博id",
            "帖子编号",
            "序号",
            "編號",
        ],
    ),
    (
        "title",
        &[
            "title",
            "subject",
            "headline",
            "posttitle",
            "threadtitle",
            "topic",
            "标题",
            "题目",
            "主题",
            "帖子标题",
            "標題",
            "主題",
        ],
    ),
    (
        "content",
        &[
            "content",
            "text",
            "fulltext",
            "body",
            "selftext",
            "message",
            "post",
            "joke",
            "sentence",
            "question",
            "desc",
            "description",
            "caption",
            "comment",
            "posttext",
            "posttextcontent",
            "postcontent",
            "tweettext",
            "tweet",
            "rawcontent",
            "renderedcontent",
            "rawtext",
            "textraw",
            "contenttext",
            "commentcontent",
            "contentraw",
            "内容",
            "正文",
            "文本",
            "帖子内容",
            "微博正文",
            "微博内容",
            "评论内容",
            "回答内容",
            "段子",
            "问题",
            "內容",
        ],
    ),
    (
        "author",
        &[
            "author",
            "authorname",
            "attributedto",
            "by",
            "postedby",
            "authors",
            "username",
            "user",
            "usernickname",
            "nickname",
            "nick",
            "screenname",
            "userscreenname",
            "displayname",
            "showname",
            "nicknamenew",
            "nicknameold",
            "sender",
            "sendername",
            "poster",
            "postername",
            "from",
            "fromuser",
            "who",
            "lz",
            "op",
            "owner",
            "creator",
            "member",
            "handle",
            "account",
            "writer",
            "作者",
            "楼主",
            "发帖人",
            "发帖者",
            "用户昵称",
            "用户名",
            "用户",
            "昵称",
            "网名",
            "博主",
            "发布者",
            "发布人",
            "评论者",
            "答主",
            "账号",
            "樓主",
            "暱稱",
            "realname",
            "fullname",
            "真实姓名",
            "姓名",
            "真名",
            "authorfullname",
            "userid",
            "authorid",
            "用户id",
            "uid",
        ],
    ),
    (
        "time",
        &[
            "time",
            "createdat",
            "createdutc",
            "createtime",
            "created",
            "ctime",
            "publishtime",
            "publishedat",
            "published",
            "postedat",
            "posttime",
            "pubdate",
            "date",
            "datetime",
            "timestamp",
            "时间",
            "时间戳",
            "时间戳记",
            "发布时间",
            "发帖时间",
            "日期",
            "時間",
        ],
    ),
    (
        "score",
        &[
            "score",
            "likes",
            "likecount",
            "likedcount",
            "upvotes",
            "ups",
            "votes",
            "voteup",
            "voteupcount",
            "attitudescount",
            "agree",
            "points",
            "favoritecount",
            "点赞",
            "点赞数",
            "赞",
        ],
    ),
];

/// Words of the names of columns that hold people, beyond those of authors.
const PEOPLE: [&str; 30] = [
    "author",
    "user",
    "nick",
    "screenname",
    "sender",
    "poster",
    "owner",
    "member",
    "mention",
    "participant",
    "email",
    "phone",
    "avatar",
    "portrait",
    "person",
    "realname",
    "fullname",
    "作者",
    "楼主",
    "用户",
    "昵称",
    "姓名",
    "网名",
    "账号",
    "发帖人",
    "邮箱",
    "手机",
    "电话",
    "头像",
    "暱稱",
];
/// Words of the names of columns that tell of people without their names: where they are, how to reach them, what they are numbered by.
const PERSONAL: [&str; 12] =
    ["ip", "ips", "qq", "tel", "mobile", "wechat", "passport", "birthday", "微信", "身份证", "属地", "地址"];
/// Words that show a count or an attribute of people and no person: `user_flair_css_class`, `number_of_users`.
const ABOUT_PEOPLE: [&str; 16] = [
    "count",
    "num",
    "flair",
    "premium",
    "cake",
    "is",
    "patreon",
    "reports",
    "likes",
    "level",
    "followers",
    "数",
    "等级",
    "粉丝",
    "认证",
    "性别",
];
/// Words that do so at the end, and elsewhere say whose name it is: `author_link`, and `link_author`.
const ABOUT_PEOPLE_LAST: [&str; 4] = ["url", "link", "agent", "type"];
/// Keys of a name in an object that is a user.
pub(super) const NAMES: [&str; 15] = [
    "name",
    "username",
    "user_name",
    "screen_name",
    "nickname",
    "nick_name",
    "nick_name_new",
    "show_name",
    "login",
    "displayname",
    "display_name",
    "displayName",
    "screenName",
    "acct",
    "global_name",
];

/// A column's name in small letters, without what joins its words.
pub(super) fn normalise_column(column: &str) -> String {
    column.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
}

/// The field that a column of this name is.
pub(super) fn field_of(column: &str) -> Option<&'static str> {
    let name = normalise_column(column);
    COLUMNS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(field, _)| *field)
}

/// Whether a column of this name probably says who somebody is.
pub(super) fn names_people(column: &str) -> bool {
    let last = column.rsplit('.').next().unwrap_or(column);
    let words: Vec<String> = last.split(['_', '-', ' ']).map(str::to_lowercase).collect();
    let is_about = words.iter().any(|word| ABOUT_PEOPLE.contains(&word.as_str()))
        || words.last().is_some_and(|word| ABOUT_PEOPLE_LAST.contains(&word.as_str()))
        || ABOUT_PEOPLE.iter().any(|word| !word.is_ascii() && column.contains(word));
    if is_about {
        return false;
    }
    let name = normalise_column(column);
    field_of(column) == Some("author") || PEOPLE.iter().any(|word| name.contains(word))
}

/// Whether a column of this name says who somebody is, or tells of them.
pub(super) fn tells_of_people(column: &str) -> bool {
    let last = column.rsplit('.').next().unwrap_or(column).to_lowercase();
    let is_word = |word: &&str| match word.is_ascii() {
        true => last.split(['_', '-', ' ']).any(|part| part == *word),
        false => last.contains(*word),
    };
    names_people(column) || PERSONAL.iter().any(is_word)
}

/// Whether a column that is of people has their numbers and not their names.
pub(super) fn is_number_of_person(column: &str) -> bool {
    let name = normalise_column(column);
    name.ends_with("id") || name.ends_with("authorfullname")
}

/// Whether a key has a name of somebody or is somebody, and not their number, address or picture. `in_person`: whether it is a key of
/// an object that is a person, in which `name` is theirs.
pub(super) fn holds_name(key: &str, in_person: bool) -> bool {
    const REACHED: [&str; 10] =
        ["email", "phone", "avatar", "portrait", "authorfullname", "邮箱", "手机", "电话", "头像", "hash"];
    let name = normalise_column(key);
    let is_name = names_people(key) || in_person && NAMES.iter().any(|known| normalise_column(known) == name);
    is_name && !name.ends_with("id") && name != "uid" && !REACHED.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_people_are_told_by_their_names() {
        for column in [
            "用户昵称",
            "发帖人",
            "昵称",
            "who",
            "poster",
            "lz",
            "楼主",
            "user_name",
            "author.name",
            "reply_to_user",
            "link_author",
            "Email",
            "real_name",
            "真实姓名",
            "full_name",
        ] {
            assert!(names_people(column) && tells_of_people(column), "{column}");
        }
        for column in ["ip", "user.ip", "reg_ip", "QQ", "IP属地", "手机号"] {
            assert!(tells_of_people(column), "{column}");
        }
        for column in ["ip", "description", "tip", "mobile_game"] {
            assert!(!names_people(column), "{column}");
        }
        assert!(!tells_of_people("description") && !tells_of_people("tip"));
        assert!(holds_name("real_name", false) && holds_name("full_name", false));
        assert!(!holds_name("author_fullname", false) && !holds_name("ip", true));
        for column in [
            "title",
            "author_link",
            "author_flair_css_class",
            "user_count",
            "点赞数",
            "粉丝数",
            "num_reports",
            "time",
        ] {
            assert!(!names_people(column), "{column}");
        }
    }
}
