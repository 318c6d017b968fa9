//! The cunning texts of FLUB (Li et al., 2.1).

use super::Annotatable;
use riddlemill_text::record::{CunningText, Post};

impl Annotatable for CunningText {
    fn of_post(post: Post) -> Option<CunningText> {
        Some(post.into())
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
