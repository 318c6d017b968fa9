//! The values of categories in charts: as the folder of the benchmark names them, in Chinese.

use riddlemill_benchmarks::ballot::Choice;

/// Values that every benchmark may have: standings, yes and no, and what most voters prefer.
const VALUES: &[(&str, &str)] = &[
    ("confirmed", "已确认"),
    ("published", "已发表"),
    ("provisional", "待确认"),
    ("synthetic", "虚构投票"),
    ("true", "是"),
    ("false", "否"),
    ("undecided", "未定"),
    ("annual", "年度帖"),
    ("recommended", "吧主推荐"),
    ("unknown", "不详"),
];

/// A value in Chinese; `None` for one that no folder names, as of models, sources and licences.
pub fn category(benchmark: &str, value: &str) -> Option<String> {
    let fixed = VALUES.iter().find(|(known, _)| *known == value).map(|(_, zh)| *zh);
    let own =
        || riddlemill_benchmarks::find(benchmark).into_iter().flat_map(|own| own.ballots.lists.values());
    // Lists share codes such as `none`, which then say nothing by themselves.
    let by_code = || {
        let mut of_code = own().flatten().filter(|choice| choice.code == value && !is_number(value));
        of_code.next().filter(|_| of_code.next().is_none())
    };
    let named = |choice: &&Choice| choice.label.en == value;
    // A set may have columns of another one, from which it is made.
    let all = || riddlemill_benchmarks::all().iter().flat_map(|other| other.ballots.lists.values());
    let of_folder = || own().flatten().find(named).or_else(by_code).or_else(|| all().flatten().find(named));
    fixed.or_else(|| of_folder().map(|choice| choice.label.zh)).map(str::to_owned)
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_named_as_their_folder_names_them() {
        let zh = |benchmark: &str, value: &str| category(benchmark, value);
        assert_eq!(zh("ruozhibench-gen", "Absurd Imagination").as_deref(), Some("荒诞想象"));
        assert_eq!(zh("ruozhibench-mc", "Absurd Imagination").as_deref(), Some("荒诞想象"), "made from gen");
        assert_eq!(zh("flub", "synthetic").as_deref(), Some("虚构投票"));
        assert_eq!((zh("flub", "sample-model-a"), zh("ruozhibench-gen", "1")), (None, None));
    }
}
