//! The inbox: what waits for a person.

use agentic_api::Verb as _;
use agentic_api::verb::PendingHolds;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::gate::Visitor;
use crate::host::HostNames;
use crate::page::{self, PageFrame};
use crate::route::reply::{html, login_wanted, refused};
use crate::site::{SharedSite, WebSite};
use crate::status::RequestAim;

/// Shows all open holds. Under a name that programs use it says where the page is to be had.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    headers: axum::http::HeaderMap,
) -> Response {
    let host = headers.get(axum::http::header::HOST).and_then(|host| host.to_str().ok());
    if is_program_name(&site, host) {
        return html(StatusCode::OK, page::elsewhere());
    }
    if !visitor.may_read() {
        return login_wanted(&site, &visitor);
    }
    let found = site.read(|caller| Ok(PendingHolds::default().run(caller)?.answer)).await;
    match found {
        Ok(holds) => {
            let frame = PageFrame::new(&site, &visitor, "Inbox").with_command("agentic pending");
            html(StatusCode::OK, page::inbox::page(&frame, &holds))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

fn is_program_name(site: &WebSite, host: Option<&str>) -> bool {
    let programs =
        |names: &HostNames| names.programs.iter().any(|name| Some(name.as_str()) == host);
    site.hosts.as_ref().is_some_and(programs)
}
