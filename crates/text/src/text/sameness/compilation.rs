//! Veto: a compilation and one of its parts.
//!
//! What: one text weighs less than half of the other, and the other does not begin with it; or the other is a
//! numbered list of three or more. The pair is one step less similar. Why: a post that contains two jokes
//! resembles each of them, and merging by it would make the two one. A copy with an added tail resembles it
//! too, but begins the same.
//!
//! Known problems: a compilation that opens with the joke and is no list passes for a copy with a
//! tail; a joke told after a long preface passes for a part of a compilation.
//!
//! Example: `鱼说水里没有秘密，因为水太透明了` in `猫把老鼠的简历退了回去，说专业不对口。鱼说水里没有秘密，因为水太透明了`.

use super::prepared::Bag;
use super::{Prepared, Ratio};

/// From this many items on it is a list.
const LIST: u32 = 3;

pub(super) fn vetoes(a: &Prepared, b: &Prepared) -> bool {
    let (light, heavy) = if a.weight <= b.weight { (a, b) } else { (b, a) };
    if 2 * light.weight >= heavy.weight {
        return false;
    }
    if heavy.items() >= LIST && light.items() < LIST {
        return true;
    }
    // The lead is a quarter longer than the text, to allow for inserted words.
    let lead = Bag::of_chars(&heavy.chars[..heavy.len().min(light.len() * 5 / 4)]);
    Ratio::new(light.bag().shared(&lead), light.weight.max(1)) < Ratio::new(2, 3)
}

#[cfg(test)]
mod tests {
    use crate::text::sameness::{Verdict, Veto, compare};

    #[test]
    fn a_part_is_not_the_whole() {
        let part = "鱼说水里没有秘密，因为水太透明了";
        let pair = compare(part, &format!("猫把老鼠的简历退了回去，说专业不对口。{part}"));
        assert_ne!(pair.verdict, Verdict::Same);
        let list =
            format!("1、{part}\n2、鸟把云叼走了，所以今天下不了雨\n3、虾红着脸从锅里爬出来，说自己只是害羞");
        let pair = compare(part, &list);
        assert_eq!((pair.verdict, pair.veto), (Verdict::Borderline, Some(Veto::Compilation)));
    }

    #[test]
    fn an_added_tail_is_no_compilation() {
        let pair = compare(
            "鱼说水里没有秘密，因为水太透明了",
            "鱼说：水里没有秘密，因为水实在太透明了。那么住在泥里的泥鳅是不是知道所有人的秘密？",
        );
        assert_eq!(pair.verdict, Verdict::Same);
    }
}
