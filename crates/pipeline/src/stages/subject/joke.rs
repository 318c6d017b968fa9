//! The jokes of Chumor (He et al., 2 and 3).

use super::Annotatable;
use riddlemill_text::record::{Joke, Post};

impl Annotatable for Joke {
    fn of_post(post: Post) -> Option<Joke> {
        Some(post.into())
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
