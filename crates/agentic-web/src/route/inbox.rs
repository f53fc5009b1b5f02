//! The inbox: what waits for a person.

use agentic_api::Refusal;
use agentic_api::verb::{Inbox, InboxPlace};
use agentic_api::view::{DeciderView, InboxHoldView, QuestionView};
use agentic_model::Instant;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::hold::TypedAnswer;
use crate::page::inbox::{InboxFilter, InboxRow, ROWS_MAX};
use crate::page::{self, PageFrame};
use crate::route::hold::{form_of, why_gone};
use crate::route::reply::{html, refused};
use crate::site::{SharedSite, WebSite};
use crate::status::RequestAim;

/// Which part of the inbox is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InboxPageQuery {
    agent: String,
    kind: String,
    reason: String,
    after: Option<String>,
}

/// Shows open holds.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Query(query): Query<InboxPageQuery>,
) -> Response {
    // A filter of which nothing was chosen is sent all the same.
    let chosen = |word: String| Some(word).filter(|word| !word.is_empty());
    let InboxPageQuery { agent, kind, reason, after } = query;
    let filter = InboxFilter { agent: chosen(agent), kind: chosen(kind), reason: chosen(reason) };
    let InboxFilter { agent, kind, reason } = filter.clone();
    let place = InboxPlace { after, limit: Some(ROWS_MAX) };
    let verb = Inbox { agent, kind, reason, place };
    let shared = SharedSite::clone(&site);
    let found = site.read_as(&visitor, move |caller| {
        let inbox = verb.among(caller, &shared.resident.index.holds())?.answer;
        let gone = |one: &InboxHoldView| why_gone(caller.space, &one.hold.agent);
        let gone: Vec<Option<Refusal>> = inbox.holds.iter().map(gone).collect();
        Ok((inbox, gone, caller.space.now()))
    });
    match found.await {
        Ok((mut inbox, gone, now)) => {
            let holds = std::mem::take(&mut inbox.holds);
            let rows: Vec<InboxRow> = holds
                .into_iter()
                .zip(gone)
                .map(|(hold, gone)| {
                    row(&site, &visitor, inbox.decider.as_ref(), hold, now).with_gone(gone)
                })
                .collect();
            let frame = PageFrame::new(&site, &visitor, "Inbox").with_command("agentic pending");
            html(StatusCode::OK, page::inbox::page(&frame, &inbox, &rows, &filter))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Puts a hold into its row, with a form where it is the turn of whoever looks.
fn row(
    site: &WebSite,
    visitor: &Visitor,
    decider: Option<&DeciderView>,
    hold: InboxHoldView,
    now: Instant,
) -> InboxRow {
    let InboxHoldView { hold, mine: is_theirs } = hold;
    let question = QuestionView::new(hold, now);
    let form = (visitor.may_decide() && is_theirs)
        .then(|| form_of(site, visitor, &question, decider.cloned(), TypedAnswer::default()));
    InboxRow { question, is_theirs, form, gone: None }
}
