//! What is asked for, by address.

mod agents;
mod commits;
mod control;
mod decision_form;
mod events;
mod health;
mod hold;
mod inbox;
mod login;
mod reply;
mod search;
mod sessions;
mod statistics;
mod traces;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, get, post};

use crate::api;
use crate::assets::asset;
use crate::gate::{PROTOCOL_PATH, guard};
use crate::protocol;
use crate::site::SharedSite;

/// The longest content of a request, in bytes.
const BODY_BYTES_MAX: usize = 4 << 20;

/// Makes the routes of a site.
pub fn router(site: SharedSite) -> Router {
    let pages = Router::new()
        .route("/", get(inbox::show))
        .route("/agents", get(agents::list))
        .route("/agents/{agent}", get(agents::one))
        .route("/agents/{agent}/{part}", get(agents::part))
        .route("/commits/{id}", get(commits::one))
        .route("/commits/{id}/history", get(commits::history))
        .route("/sessions", get(sessions::list))
        .route("/sessions/{id}", get(sessions::one))
        .route("/sessions/{id}/requests/{seq}", get(sessions::request))
        .route("/sessions/{id}/compare", get(sessions::choose))
        .route("/sessions/{id}/diff/{other}", get(sessions::compare))
        .route("/statistics", get(statistics::show))
        .route("/statistics/{file}", get(statistics::csv))
        .route("/traces/{cid}", get(traces::trace))
        .route("/traces/{cid}/entries/{place}", get(traces::entry_bytes))
        .route("/objects/{cid}", get(traces::object))
        .route("/objects/{cid}/bytes", get(traces::object_bytes))
        .route("/holds/{request}", get(hold::show))
        .route("/holds/{request}/decision", get(hold::show_instead).post(hold::decide))
        .route("/search", get(search::show))
        .route("/logout", post(login::end_all))
        .route_layer(from_fn_with_state(site.clone(), reply::require_login))
        .route("/login", get(login::show).post(login::begin))
        .route("/login/challenge", post(login::challenge))
        .route("/login/key", post(login::begin_by_key))
        .route("/assets/{name}", get(asset));
    let api = api::refusing(
        api::router().route("/health", get(health::show)).route("/events", get(events::stream)),
    );
    let control = Router::new()
        .route("/codes", post(control::issue_code))
        .route("/logout", post(control::end_logins))
        .route("/rebuild", post(control::rebuild_index));
    Router::new()
        .merge(pages)
        .nest("/api/v1", api)
        .nest("/control", control)
        .route(PROTOCOL_PATH, any(protocol::answer))
        .fallback(reply::no_such_page)
        // Outermost, so that the guard can allow strangers less.
        .layer(from_fn_with_state(site.clone(), guard))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(site)
}
