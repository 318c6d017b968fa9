//! The responses of RuozhiBench, which judges rate (Zhai et al., 3.1).

use super::Annotatable;
use riddlemill_text::record::{Post, Response};

/// No person looks at responses: the paper has none do so (section 4.1).
impl Annotatable for Response {
    fn of_post(_: Post) -> Option<Response> {
        None
    }

    fn flags(&mut self) -> &mut Vec<String> {
        &mut self.flags
    }
}
