//! Word segmentation with jieba's own dictionary, loaded once a process.

use std::sync::LazyLock;

use jieba_rs::Jieba;

static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// The shared segmenter. The first call loads the dictionary (about 0.1 s); later calls are free.
pub fn jieba() -> &'static Jieba {
    &JIEBA
}
