//! The family of agents as a drawing, and the same as a list.

use std::collections::BTreeMap;

use agentic_api::roster::RosterReview;
use agentic_api::view::FamilyView;
use maud::{Markup, html};

use super::clip::short_line;

/// How many agents stand in a drawing.
pub const NODES_MAX: usize = 200;
/// How many edges of one sort are drawn.
const EDGES_MAX: usize = 300;
/// How far a child stands to the right of its parent.
const STEP: usize = 24;
/// How much of a name stands beside its node, in bytes of the page.
const NAME_BYTES_MAX: usize = 80;
/// How high a row is.
const ROW: usize = 24;
/// How deep a drawing goes to the right.
const DEPTH_MAX: usize = 16;

/// An agent in the drawing.
#[derive(Clone, Copy)]
pub struct TreeRow<'a> {
    /// How many agents stand above it.
    pub depth: usize,
    /// The agent.
    pub family: &'a FamilyView,
}

/// Shows agents as a drawing and as a list beneath it.
pub fn markup(rows: &[TreeRow<'_>], reviews: &[RosterReview]) -> Markup {
    let places: BTreeMap<&str, (usize, usize)> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| (row.family.agent.as_str(), place(at, row.depth)))
        .collect();
    let (width, height) = (STEP * DEPTH_MAX + 420, ROW * rows.len() + 16);
    let merges = rows.iter().flat_map(|row| {
        row.family.merged_into.iter().map(move |into| (row.family.agent.as_str(), into.as_str()))
    });
    let reviews_drawn = reviews.iter().map(|one| (one.who.as_str(), one.agent.as_str()));
    html! {
        div.wide.drawing tabindex="0" role="region" aria-label="Drawing of the agents" {
            svg.tree viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) aria-hidden="true" {
                path.child d=(children(rows)) {}
                path.merge d=(curves(merges, &places, -1)) {}
                path.review d=(curves(reviews_drawn, &places, 1)) {}
                @for (at, row) in rows.iter().enumerate() { (node(at, *row)) }
            }
        }
        p.about { "Solid: forked from. Dashed: merged into. Dotted: reviews." }
        h2 { "The same as a list" }
        (nested(rows, reviews))
    }
}

fn place(at: usize, depth: usize) -> (usize, usize) {
    (40 + depth.min(DEPTH_MAX) * STEP, 16 + at * ROW)
}

fn node(at: usize, row: TreeRow<'_>) -> Markup {
    let ((x, y), family) = (place(at, row.depth), row.family);
    html! {
        a href={ "/agents/" (family.agent) } tabindex="-1" {
            text x=(x) y=(y + 5) { "● " (short_line(&family.agent, NAME_BYTES_MAX)) " (" (family.state) ")" }
        }
    }
}

/// Draws the lines from parents to children.
fn children(rows: &[TreeRow<'_>]) -> String {
    let mut path = String::new();
    let mut above: Vec<usize> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        above.truncate(row.depth);
        // The parent of the first ones may stand on an earlier page.
        if let Some(parent) = above.last().filter(|_| above.len() == row.depth && row.depth > 0) {
            let ((from, top), (to, y)) = (place(*parent, row.depth - 1), place(at, row.depth));
            path.push_str(&format!("M{} {}V{y}H{}", from + 4, top + 7, to.saturating_sub(2)));
        }
        above.resize(row.depth, at);
        above.push(at);
    }
    path
}

/// Draws curves from agent to agent, to the left or to the right of them.
fn curves<'a>(
    edges: impl Iterator<Item = (&'a str, &'a str)>,
    places: &BTreeMap<&str, (usize, usize)>,
    side: i64,
) -> String {
    let drawn = edges.filter_map(|(from, to)| places.get(from).zip(places.get(to))).take(EDGES_MAX);
    let number = |n: usize| i64::try_from(n).unwrap_or_default();
    let mut path = String::new();
    for ((x, y), (to_x, to_y)) in drawn {
        let (x, y, to_x, to_y) = (number(*x), number(*y), number(*to_x), number(*to_y));
        let bend = side * (16 + (to_y - y).abs().min(200) / 12);
        let (begin, end) = (x + bend, to_x + bend);
        path.push_str(&format!("M{x} {y}C{begin} {y} {end} {to_y} {to_x} {to_y}"));
    }
    path
}

/// Shows the same as lists in lists.
fn nested(rows: &[TreeRow<'_>], reviews: &[RosterReview]) -> Markup {
    let mut reviewers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for review in reviews {
        reviewers.entry(&review.agent).or_default().push(&review.who);
    }
    let (markup, _) = level(rows, 0, &reviewers);
    html! { div.nested { (markup) } }
}

/// Shows the agents from a place on that stand as deep as the first, or deeper; and says where the
/// next one stands.
fn level(
    rows: &[TreeRow<'_>],
    begin: usize,
    reviewers: &BTreeMap<&str, Vec<&str>>,
) -> (Markup, usize) {
    let mut at = begin;
    let mut items = Vec::new();
    while let Some(row) = rows.get(at) {
        // What begins a page may stand deeper than what follows.
        if row.depth < rows[begin].depth && begin > 0 {
            break;
        }
        let has_children = rows.get(at + 1).is_some_and(|next| next.depth > row.depth);
        let (below, next) = match has_children {
            true => level(rows, at + 1, reviewers),
            false => (html! {}, at + 1),
        };
        items.push(html! { li { (named(row.family, reviewers)) (below) } });
        at = next;
    }
    (html! { ul { @for item in &items { (item) } } }, at)
}

fn named(family: &FamilyView, reviewers: &BTreeMap<&str, Vec<&str>>) -> Markup {
    let names = |names: &[&str]| {
        let shown = names.iter().take(5).map(|name| short_line(name, NAME_BYTES_MAX));
        let more = match names.len().saturating_sub(5) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("{}{more}", shown.collect::<Vec<String>>().join(", "))
    };
    let merged: Vec<&str> = family.merged_into.iter().map(String::as_str).collect();
    html! {
        a href={ "/agents/" (family.agent) } { (short_line(&family.agent, NAME_BYTES_MAX)) }
        " " (family.state)
        @if !merged.is_empty() { " · merged into " (names(&merged)) }
        @if let Some(who) = reviewers.get(family.agent.as_str()) { " · reviewed by " (names(who)) }
    }
}
