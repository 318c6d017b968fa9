//! A chart as SVG: as a file that stands alone, with its own colours and fonts by name, and as a part of a page.
//!
//! A drawing is as wide as a column of a paper (84 mm), with letters of 8 points and more. One hue in steps of lightness, with
//! patterns and outlines, can be told apart in black and white. A value of 0 has no bar, a chart without values says so. A page
//! has the same drawing without its title, and what the pointer is at tells its value.

use super::canvas::{Canvas, LETTER, LINE, WIDE, escape_markup, wrap_text};
use super::{Chart, shapes};

const FONTS: &str = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', 'Noto Sans CJK SC', 'Source Han Sans SC', \
                     'Microsoft YaHei', 'PingFang SC', sans-serif";

/// The words of drawings that are not their chart's.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// What is said of a chart without values.
    pub nothing: &'static str,
    /// What an axis of logarithms is called, behind its title.
    pub logarithmic: &'static str,
    /// What the line through points is.
    pub least_squares: &'static str,
}

impl Words {
    /// Those of files, and of English pages.
    pub const ENGLISH: Words =
        Words { nothing: "no data", logarithmic: ", logarithmic", least_squares: "dashed: least squares" };
    /// Those of Chinese pages.
    pub const CHINESE: Words =
        Words {
            nothing: "没有数据", logarithmic: "（对数）", least_squares: "虚线：最小二乘"
        };
}

/// The drawing as a file.
pub fn render_svg(chart: &Chart) -> String {
    let mut canvas = Canvas::new(None);
    for line in wrap_text(&chart.title, WIDE - 8.0, 9.0) {
        canvas.y += 11.5;
        let text = format!("<tspan font-size=\"9\" font-weight=\"bold\">{}</tspan>", escape_markup(&line));
        canvas.draw_escaped([4.0, canvas.y], "start", &text);
    }
    canvas.y += 4.0;
    draw_chart(&mut canvas, chart, &Words::ENGLISH);
    let tall = canvas.y + 6.0;
    let size = format!("width=\"84mm\" height=\"{:.2}mm\"", tall * 84.0 / WIDE);
    frame_drawing(&canvas, &size, tall, &chart.title)
}

/// The drawing as a part of a page, which has its title beside it.
pub fn render_drawing(chart: &Chart, words: &Words) -> String {
    // Two languages of one chart are two drawings.
    let named =
        blake3::hash(format!("{}\0{}\0{}", chart.name, chart.title, words.nothing).as_bytes()).to_hex();
    let mut canvas = Canvas::new(Some(format!("d{}-", &named[..8])));
    draw_chart(&mut canvas, chart, words);
    let tall = canvas.y + 6.0;
    frame_drawing(&canvas, "class=\"drawing\"", tall, &chart.title)
}

fn draw_chart(canvas: &mut Canvas, chart: &Chart, words: &Words) {
    match chart.is_empty() {
        true => {
            canvas.y += LINE;
            canvas.draw_label([4.0, canvas.y], "start", words.nothing);
        }
        false => shapes::draw_shape(canvas, chart, words.logarithmic, words.least_squares),
    }
}

fn frame_drawing(canvas: &Canvas, size: &str, tall: f64, title: &str) -> String {
    let (title, patterns, body) = (escape_markup(title), canvas.define_patterns(), &canvas.body);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} viewBox=\"0 0 {WIDE} {tall:.1}\" role=\"img\" aria-label=\"{title}\" \
         font-family=\"{FONTS}\" font-size=\"{LETTER}\" fill=\"#000\">\n<title>{title}</title>\n{patterns}\n<rect width=\"{WIDE}\" height=\"{tall:.1}\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}
