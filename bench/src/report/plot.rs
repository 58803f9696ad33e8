//! A plot with lines, as SVG: a card of its own background, so that it is read on any page, light or dark.
//! Which lines there are is `plots`'.

pub mod axis;

use std::fmt::Write as _;

use super::figure::figure;
use axis::{Axis, Scale};

/// How a line looks: the name of a class of the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Stands out.
    Ours,
    /// The paler one of the two.
    GoStock,
    /// The stronger one of the two.
    GoTuned,
    /// Dashed: nobody gets past it.
    Limit,
}

/// Points, joined.
pub struct Line {
    /// How it looks.
    pub look: Look,
    /// What the legend calls it; a line without a name is one more round of another, and pale.
    pub name: Option<String>,
    /// Pairs of x and y.
    pub points: Vec<(f64, f64)>,
}

/// What is drawn.
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// Under which circumstances.
    pub subtitle: String,
    /// What x is, and how it is scaled.
    pub x: (String, Scale),
    /// What y is, and how it is scaled.
    pub y: (String, Scale),
    /// Those later are drawn over those before.
    pub lines: Vec<Line>,
    /// Whether the single points count, and are marked.
    pub marked: bool,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 68.0;
const RIGHT: f64 = 682.0;
const TOP: f64 = 128.0;
const BOTTOM: f64 = 346.0;

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif;fill:#57606a}\
.title{font-size:17px;font-weight:600;fill:#1f2328}.name{fill:#1f2328}.card{fill:#fff;stroke:#d0d7de}\
.grid{stroke:#e6e9ed}.base{stroke:#8c959f}.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.pale{stroke-width:1.2;opacity:.32}.ours{stroke:#c2410c;stroke-width:2.8}.ours.pale{stroke-width:1.4}\
.stock{stroke:#58a9e0}.tuned{stroke:#1d5fb4}.limit{stroke:#6e7781;stroke-dasharray:6 5}.line.dot{stroke-width:8}\
@media (prefers-color-scheme:dark){text{fill:#9da7b3}.title,.name{fill:#e6edf3}.card{fill:#0d1117;stroke:#30363d}\
.grid{stroke:#21262d}.base{stroke:#6e7681}.ours{stroke:#ff8f4d}.stock{stroke:#a5d6ff}.tuned{stroke:#4493f8}.limit{stroke:#8b949e}}";

impl Plot {
    /// As the text of a file.
    pub fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let x = Axis::over(self.x.1, points().map(|point| point.0));
        let y = Axis::over(self.y.1, points().map(|point| point.1));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n\
             <rect class=\"card\" x=\".5\" y=\".5\" width=\"719\" height=\"399\" rx=\"8\"/>\n",
            escaped(&self.title)
        );
        text(&mut svg, (24.0, 34.0), "title", "start", &self.title);
        text(&mut svg, (24.0, 55.0), "", "start", &self.subtitle);
        self.legend(&mut svg);
        self.axes(&mut svg, &x, &y);
        for line in &self.lines {
            self.line(&mut svg, line, &x, &y);
        }
        svg + "</svg>\n"
    }

    fn axes(&self, svg: &mut String, x: &Axis, y: &Axis) {
        for tick in &y.ticks {
            let Some(height) = y.place(*tick).map(down) else { continue };
            rule(svg, "grid", (LEFT, height), (RIGHT, height));
            text(svg, (LEFT - 8.0, height + 4.5), "", "end", &tick_text(*tick));
        }
        for tick in &x.ticks {
            let Some(across) = x.place(*tick).map(across) else { continue };
            rule(svg, "base", (across, BOTTOM), (across, BOTTOM + 5.0));
            text(svg, (across, BOTTOM + 21.0), "", "middle", &tick_text(*tick));
        }
        rule(svg, "base", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        text(svg, (24.0, TOP - 15.0), "", "start", &self.y.0);
        text(svg, (RIGHT, BOTTOM + 42.0), "", "end", &self.x.0);
    }

    fn legend(&self, svg: &mut String) {
        let mut left = 24.0;
        // The last drawn is the one that it is about.
        for line in self.lines.iter().rev() {
            let Some(name) = &line.name else { continue };
            let class = format!("line {}", class(line.look));
            rule(svg, &class, (left, 79.0), (left + 24.0, 79.0));
            text(svg, (left + 31.0, 83.5), "name", "start", name);
            // The font is not known here; its letters are about this wide.
            left += 49.0 + 7.2 * super::measured::number(name.chars().count());
        }
    }

    fn line(&self, svg: &mut String, line: &Line, x: &Axis, y: &Axis) {
        let place = |point: &(f64, f64)| Some((across(x.place(point.0)?), down(y.place(point.1)?)));
        let places: Vec<_> = line.points.iter().filter_map(place).collect();
        let class = class(line.look);
        let pale = if line.name.is_none() { " pale" } else { "" };
        let shown = thinned(&places).into_iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
        let shown = shown.collect::<Vec<_>>().join(" ");
        let _ = writeln!(svg, "<polyline class=\"line {class}{pale}\" points=\"{shown}\"/>");
        for (x, y) in places.iter().filter(|_| self.marked && line.look != Look::Limit) {
            let _ = writeln!(svg, "<path class=\"line {class} dot\" d=\"M{x:.1},{y:.1}h0\"/>");
        }
    }
}

/// Without those less than a pixel from the one before; the last stays.
fn thinned(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let far = |last: &(f64, f64)| (place.0 - last.0).abs().max((place.1 - last.1).abs()) >= 1.0;
        if index + 1 == places.len() || kept.last().is_none_or(far) {
            kept.push(*place);
        }
    }
    kept
}

fn across(part: f64) -> f64 {
    LEFT + part * (RIGHT - LEFT)
}

fn down(part: f64) -> f64 {
    BOTTOM - part * (BOTTOM - TOP)
}

fn class(look: Look) -> &'static str {
    match look {
        Look::Ours => "ours",
        Look::GoStock => "stock",
        Look::GoTuned => "tuned",
        Look::Limit => "limit",
    }
}

/// `0.5`, not `0.50`: a tick is round.
fn tick_text(tick: f64) -> String {
    let text = figure(tick);
    if text.contains('.') { text.trim_end_matches('0').to_owned() } else { text }
}

fn rule(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(
        svg,
        "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), class: &str, anchor: &str, words: &str) {
    let words = escaped(words);
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
    );
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
