//! The inbox: what waits for a person.

use agentic_api::view::question::question;
use agentic_api::view::{PendingView, visible_line};
use maud::{Markup, html};

use super::{PageFrame, instant};

/// How many lines of a hold's text a list shows.
const LINES_MAX: usize = 12;

/// Shows all open holds.
pub fn page(frame: &PageFrame, holds: &[PendingView]) -> Markup {
    frame.around(&html! {
        h1 { "Inbox" }
        @if holds.is_empty() {
            p { "Nothing waits for a person." }
            p {
                "A program that asks people, such as " code { "ask_human" }
                " in a flow, waits here until somebody answers."
            }
        } @else {
            p aria-live="polite" { (holds.len()) " " @if holds.len() == 1 { "waits" } @else { "wait" } }
        }
        ul.holds {
            @for hold in holds { (row(hold)) }
        }
    })
}

fn row(hold: &PendingView) -> Markup {
    let text = question(hold);
    let lines: Vec<&str> = text.lines().take(LINES_MAX).collect();
    let n_more = text.lines().count() - lines.len();
    html! {
        li.hold data-row data-rev=(hold.request_hash) id={ "hold-" (hold.request) } {
            h2 {
                a href={ "/holds/" (hold.request) } {
                    (visible_line(hold.question.as_deref().unwrap_or(&hold.kind)))
                }
            }
            p.about {
                (hold.agent) " asks · " (instant(&hold.asked_at))
                @if let Some(deadline) = &hold.deadline { " · until " (instant(deadline)) }
                @if hold.overdue { " · " strong { "overdue" } }
                @if !hold.assignees.is_empty() { " · for " (hold.assignees.join(", ")) }
                @if let Some(votes) = &hold.votes { " · " (votes.have) " of " (votes.need) }
            }
            pre { (lines.join("\n")) }
            @if n_more > 0 { p { a href={ "/holds/" (hold.request) } { (n_more) " lines more" } } }
        }
    }
}
