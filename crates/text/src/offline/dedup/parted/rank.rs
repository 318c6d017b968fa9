//! Ranks as texts: the keeper policy's order is the order of bytes.

use crate::offline::dedup::Standing;
use crate::offline::dedup::standing;
use crate::offline::settings::Keep;
use riddlemill_record::Post;

/// Where a post is in the policy `keep`, as a text that sorts as [`ranks`](super::super::ranks) does: the
/// lower of two is kept. The post's id follows the first colon.
pub fn rank_of(post: &Post, keep: Keep) -> String {
    let Standing { shouts, chars, score, time, .. } = standing(post);
    // Subtracted, so that longer texts sort first.
    let long = |chars: u32| format!("{}{:08x}", u8::from(shouts), u32::MAX - chars);
    let id = &post.id;
    match keep {
        Keep::BestScored => {
            format!("{:016x}{}:{id}", !ordered(score.unwrap_or(f64::NEG_INFINITY)), long(chars))
        }
        Keep::Earliest => {
            // With its sign bit flipped a time before 1970 sorts before the others.
            let seconds = (time.unwrap_or_default() as u64) ^ 1 << 63;
            format!("{}{seconds:016x}:{id}", u8::from(time.is_none()))
        }
        Keep::Longest => format!("{}:{id}", long(chars)),
    }
}

/// The id in a rank.
pub fn id_of(rank: &str) -> &str {
    rank.split_once(':').map_or(rank, |(_, id)| id)
}

/// The order of [`f64::total_cmp`] as that of integers.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::offline::dedup::ranks;

    fn posts() -> impl Strategy<Value = Vec<Post>> {
        let score = prop::option::of(prop::sample::select(vec![-1.5, -0.0, 0.0, 0.25, 3.0]));
        let time = prop::option::of(-3i64..3);
        prop::collection::vec(("[a:]{0,3}", "([鱼鸟]{0,3}|[AB]{4}|[Ab]{4})", score, time), 0..12).prop_map(
            |rows| {
                let post =
                    |(i, (id, text, score, time)): (usize, (String, String, Option<f64>, Option<i64>))| {
                        Post {
                            id: format!("{id}{i}"),
                            text,
                            score,
                            time: time.map(|time| time.to_string()),
                            ..Post::default()
                        }
                    };
                rows.into_iter().enumerate().map(post).collect()
            },
        )
    }

    proptest! {
        #[test]
        fn bytes_sort_as_the_policy_does(
            posts in posts(),
            keep in prop::sample::select(Keep::ALL),
        ) {
            let standings: Vec<Standing> = posts.iter().map(standing).collect();
            let ranks = ranks(&standings, keep, |row| posts[row as usize].id.as_str());
            for (a, x) in posts.iter().zip(&ranks) {
                let rank = rank_of(a, keep);
                prop_assert_eq!(id_of(&rank), &a.id);
                for (b, y) in posts.iter().zip(&ranks) {
                    prop_assert_eq!(rank_of(a, keep).cmp(&rank_of(b, keep)), x.cmp(y));
                }
            }
        }
    }
}
