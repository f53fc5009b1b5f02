//! How the process is.

use agentic_api::Refusal;
use agentic_api::view::ServeStatusView;
use agentic_resident::API_VERSION;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};

use crate::api::{failed_as, login_wanted};
use crate::gate::Visitor;
use crate::host::HostNames;
use crate::site::SharedSite;

/// Says how the process is. Nothing is asked of a verb: whoever asks wants to know whether it lives.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Response {
    if !visitor.may_read() {
        return login_wanted();
    }
    if query.is_some_and(|query| !query.is_empty()) {
        let refusal = Refusal::usage("this has no parameters", "ask without `?`");
        return failed_as(StatusCode::BAD_REQUEST, &refusal);
    }
    let (resident, place) = (&site.resident, site.resident.events.place());
    Json(ServeStatusView {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        api: API_VERSION,
        since: resident.since.to_string(),
        url: site.hosts.as_ref().map(HostNames::origin),
        repository: resident.space.repository().common_dir().display().to_string(),
        epoch: place.epoch,
        n: place.n,
        watch: resident.gauge.mode().word().to_owned(),
        index: resident.index.view(),
        lag_ms: resident.gauge.lag_ms(),
        streams: resident.events.n_listeners(),
        timers_due: resident.gauge.timers_due(resident.space.now()),
        driven: resident.upkeep.is_driven(),
        read_only: resident.options.is_read_only,
    })
    .into_response()
}
