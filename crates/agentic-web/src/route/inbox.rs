//! The inbox: what waits for a person.

use agentic_api::Verb as _;
use agentic_api::verb::PendingHolds;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::gate::Visitor;
use crate::page::{self, PageFrame};
use crate::route::reply::{html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// Shows all open holds.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let found = site.read(|caller| Ok(PendingHolds::default().run(caller)?.answer)).await;
    match found {
        Ok(holds) => {
            let frame = PageFrame::new(&site, &visitor, "Inbox").with_command("agentic pending");
            html(StatusCode::OK, page::inbox::page(&frame, &holds))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}
