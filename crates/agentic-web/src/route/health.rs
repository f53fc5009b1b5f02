//! How the process is.

use agentic_api::view::ServeStatusView;
use agentic_resident::API_VERSION;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};

use crate::host::HostNames;
use crate::site::SharedSite;

/// Says how the process is. Nothing is asked of a verb: whoever asks wants to know whether it lives.
pub async fn show(State(site): State<SharedSite>) -> Response {
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
