//! Two sessions beside each other.

use agentic_api::view::{ComparedRequestView, RequestView, SessionComparisonView, SessionView};
use maud::{Markup, html};

use super::clip::short_line;
use super::{PageFrame, short};

/// How many requests of each stand on a page.
pub const COMPARED_MAX: usize = 100;
/// How many equal requests are folded into one row.
const FOLDED_MIN: usize = 3;
/// How much of a request is shown, in bytes of the page.
const SIDE_BYTES_MAX: usize = 160;

/// A row: a request of both, or how many equal ones are folded.
enum ComparedRow<'a> {
    Requests(&'a ComparedRequestView),
    Folded(&'a [ComparedRequestView]),
}

/// Shows two sessions, those requests beside each other that stand in the same place.
pub fn page(frame: &PageFrame, found: &SessionComparisonView, from: usize) -> Markup {
    let rows = fold(&found.requests);
    let first = found.requests.iter().find(|row| !row.same).map(|row| row.path.as_str());
    let from = from.min(rows.len());
    let shown = &rows[from..rows.len().min(from + COMPARED_MAX)];
    let (left, right) = (&found.left, &found.right);
    let at = |from: usize| format!("/sessions/{}/diff/{}?from={from}", left.session, right.session);
    frame.around(&html! {
        h1 { "Sessions " code { (short(&left.session)) } " and " code { (short(&right.session)) } }
        @match found.difference.at {
            None => p { "Both recorded the same." },
            Some(at) => p {
                "The first record that differs is " strong { "record " (at) } "."
                @if first.is_some() { " " a href="#first" { "Where that is asked" } }
            },
        }
        div.wide tabindex="0" role="region" aria-label="Requests" {
            table {
                thead { tr { th scope="col" { "Path" } th scope="col" { (side_head(left)) } th scope="col" { (side_head(right)) } } }
                tbody { @for row in shown { (markup(row, first, found)) } }
            }
        }
        @if from > 0 { p { a rel="prev" href=(at(from.saturating_sub(COMPARED_MAX))) { "earlier" } } }
        @if from + shown.len() < rows.len() { p { a rel="next" href=(at(from + shown.len())) { "later" } } }
    })
}

fn side_head(session: &SessionView) -> Markup {
    html! {
        a href={ "/sessions/" (session.session) } { (short_line(&session.agent, 80)) }
        " " (session.state) ", " (session.records) " records"
    }
}

/// Folds requests that are equal one after the other.
fn fold(requests: &[ComparedRequestView]) -> Vec<ComparedRow<'_>> {
    let mut rows = Vec::new();
    for run in requests.chunk_by(|one, other| one.same == other.same) {
        if run.len() >= FOLDED_MIN && run.iter().all(|row| row.same) {
            rows.push(ComparedRow::Folded(run));
        } else {
            rows.extend(run.iter().map(ComparedRow::Requests));
        }
    }
    rows
}

fn markup(row: &ComparedRow<'_>, first: Option<&str>, found: &SessionComparisonView) -> Markup {
    match row {
        ComparedRow::Folded(run) => {
            let ends = run.first().zip(run.last());
            html! {
                tr.folded {
                    td colspan="3" {
                        (run.len()) " equal requests"
                        @if let Some((begin, end)) = ends { ", " (short_line(&begin.path, 60)) " to " (short_line(&end.path, 60)) }
                    }
                }
            }
        }
        ComparedRow::Requests(row) => {
            let is_first = first == Some(row.path.as_str());
            html! {
                tr id=[is_first.then_some("first")] class=[(!row.same).then_some("differs")] {
                    th scope="row" {
                        (short_line(&row.path, 80))
                        @if is_first { " " strong { "first difference" } } @else if !row.same { " differs" }
                    }
                    td { (side(&found.left, row.left.as_ref())) }
                    td { (side(&found.right, row.right.as_ref())) }
                }
            }
        }
    }
}

fn side(session: &SessionView, asked: Option<&RequestView>) -> Markup {
    html! {
        @match asked {
            None => "not asked",
            Some(asked) => {
                a href={ "/sessions/" (session.session) "/requests/" (asked.seq) } { (short_line(&asked.kind, 60)) }
                " " (short_line(&asked.payload.to_string(), SIDE_BYTES_MAX))
                @match &asked.answer {
                    Some(answer) => { " → " (short_line(&answer.to_string(), SIDE_BYTES_MAX)) }
                    None => { " → waiting" }
                }
            }
        }
    }
}
