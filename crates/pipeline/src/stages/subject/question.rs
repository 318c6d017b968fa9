//! The questions of RuozhiBench-Gen (Zhai et al. 2025, 2.2 and 2.3), which models answer (3.1).

use super::Annotatable;
use riddlemill_text::record::{Post, Question};

impl Annotatable for Question {
    fn of_post(post: Post) -> Option<Question> {
        Some(post.into())
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
