use super::*;

fn plot(lines: Vec<Line>) -> String {
    let (title, subtitle) = ("a < b & \"c\"".to_owned(), String::new());
    let axis = |name: &str| (name.to_owned(), Scale::Linear);
    Plot { title, subtitle, x: axis("s"), y: axis("objects"), lines, marked: true }.svg()
}

fn line(name: Option<&str>, points: &[(f64, f64)]) -> Line {
    Line { look: Look::Ours, name: name.map(Into::into), points: points.to_vec() }
}

/// Whether every element that begins also ends, in the right order.
fn is_well_formed(svg: &str) -> bool {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let Some((tag, _)) = tag.split_once('>') else { return false };
        let name = tag.split_whitespace().next().unwrap_or_default();
        if tag.matches('"').count() % 2 == 1 {
            return false;
        }
        if let Some(ended) = tag.strip_prefix('/') {
            if open.pop() != Some(ended) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.is_empty()
}

#[test]
fn the_svg_is_well_formed_whatever_the_words() {
    let svg = plot(vec![line(Some("<ours>"), &[(0.0, 0.0), (3.0, 900.0)]), line(None, &[])]);
    assert!(is_well_formed(&svg), "{svg}");
    assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert!(is_well_formed(&plot(Vec::new())));
}

#[test]
fn ticks_are_round_and_end_the_axes() {
    let svg = plot(vec![line(Some("ours"), &[(0.0, 0.0), (2.9, 900.0)])]);
    let shown = ["0", "0.5", "1", "2.5", "3", "200", "1,000"];
    assert!(shown.iter().all(|tick| svg.contains(&format!(">{tick}</text>"))), "{svg}");
    // 2.9 of 3 and 900 of 1,000.
    assert!(svg.contains("points=\"68.0,346.0 661.5,149.8\""), "{svg}");
}

#[test]
fn points_within_a_pixel_are_left_out_but_not_the_last() {
    let places = [(0.0, 0.0), (0.4, 0.2), (2.0, 0.0), (2.1, 0.1)];
    assert_eq!(thinned(&places), [(0.0, 0.0), (2.0, 0.0), (2.1, 0.1)]);
}
