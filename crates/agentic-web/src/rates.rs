//! Rates with their intervals, drawn into a file of its own.

use agentic_api::view::{CaseGroupView, CaseRateView, CaseStatisticsView};
use maud::{Markup, html};

/// How wide the drawing is, and where lines begin and end in it.
const WIDTH: usize = 720;
const LEFT: usize = 260;
const RIGHT: usize = 700;
/// How high a line is, and the head above all lines.
const LINE: usize = 24;
const HEAD: usize = 28;
/// How many characters of a name are shown.
const NAME_CHARS: usize = 20;
/// How many lines there are at most.
const LINES_MAX: usize = 200;

/// Draws the rates of all groups, one line each: the rate, and where it lies. What is too little to say
/// anything is grey.
pub fn rates_drawing(view: &CaseStatisticsView) -> String {
    let lines: Vec<(&CaseGroupView, &CaseRateView)> = view
        .groups
        .iter()
        .flat_map(|group| group.rates.iter().map(move |rate| (group, rate)))
        .take(LINES_MAX)
        .collect();
    let height = HEAD + LINE * lines.len().max(1) + LINE;
    let drawing = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (height) } width=(WIDTH) height=(height) role="img" aria-label="Rates by group, with 95 % intervals" font-family="sans-serif" font-size="13" {
            rect width=(WIDTH) height=(height) fill="#fff" {}
            text x="8" y="18" { "Rates by " (view.by) ", 95 % intervals, " (view.closed) " closed cases" }
            @for share in [0_usize, 25, 50, 75, 100] {
                path d={ "M" (place(share as f64 / 100.0)) " " (HEAD) "V" (height - LINE) } stroke="#ddd" {}
                text x=(place(share as f64 / 100.0)) y=(height - 8) text-anchor="middle" fill="#555" { (share) " %" }
            }
            @if lines.is_empty() { text x="8" y=(HEAD + 16) { "no closed cases" } }
            @for (at, (group, rate)) in lines.iter().enumerate() { (line(group, rate, HEAD + LINE * at + LINE / 2)) }
        }
    };
    drawing.into_string()
}

fn place(share: f64) -> usize {
    LEFT + (share.clamp(0.0, 1.0) * (RIGHT - LEFT) as f64).round() as usize
}

fn line(group: &CaseGroupView, rate: &CaseRateView, y: usize) -> Markup {
    let colour = if group.too_few { "#999" } else { "#124" };
    let key = group.names.first().or(group.key.as_ref()).map_or("none", String::as_str);
    let name: String = key.chars().take(NAME_CHARS).collect();
    let few = if group.too_few { " (too few)" } else { "" };
    html! {
        text x="8" y=(y + 4) fill=(colour) { (name) " " (rate.metric) " " (rate.n_true) "/" (rate.n) (few) }
        @if let (Some(low), Some(high), Some(middle)) = (rate.low, rate.high, rate.rate) {
            path d={ "M" (place(low)) " " (y) "H" (place(high)) } stroke=(colour) stroke-width="2" {}
            circle cx=(place(middle)) cy=(y) r="4" fill=(colour) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use agentic_api::view::{CaseGroupView, CaseRateView, CaseStatisticsView, CaseVolumeView};

    #[test]
    fn names_are_escaped_and_nothing_is_drawn_as_such() {
        let mut view = CaseStatisticsView {
            by: "agent".to_owned(),
            from: None,
            to: None,
            cases: 0,
            closed: 0,
            mixed: 0,
            apart: BTreeMap::new(),
            groups: Vec::new(),
            since_adoption: None,
            holds: Vec::new(),
            left_out: Vec::new(),
        };
        assert!(super::rates_drawing(&view).contains("no closed cases"));
        let (rate, low, high) = (Some(0.5), Some(0.1), Some(0.9));
        let metric = "landed".to_owned();
        view.groups.push(CaseGroupView {
            key: Some("<script>".to_owned()),
            names: Vec::new(),
            cases: 2,
            closed: 2,
            too_few: true,
            volume: CaseVolumeView::default(),
            rates: vec![CaseRateView { metric, n_true: 1, n: 2, rate, low, high }],
            times: Vec::new(),
            survival: None,
        });
        let drawn = super::rates_drawing(&view);
        assert!(drawn.contains("&lt;script&gt; landed 1/2 (too few)"), "{drawn}");
        assert!(drawn.contains("M304 40H656"), "{drawn}");
    }
}
