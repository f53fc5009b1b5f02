//! What is asked for, by address.

mod agents;
mod control;
mod events;
mod health;
mod hold;
mod inbox;
mod login;
mod reply;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use crate::assets::asset;
use crate::gate::guard;
use crate::site::SharedSite;

/// The longest content of a request, in bytes.
const BODY_BYTES_MAX: usize = 4 << 20;

/// Makes the routes of a site.
pub fn router(site: SharedSite) -> Router {
    let pages = Router::new()
        .route("/", get(inbox::show))
        .route("/agents", get(agents::list))
        .route("/agents/{agent}", get(agents::one))
        .route("/commits/{id}", get(agents::commit))
        .route("/holds/{request}", get(hold::show))
        .route("/holds/{request}/decision", post(hold::decide))
        .route("/logout", post(login::end_all))
        .route_layer(from_fn_with_state(site.clone(), reply::require_login))
        .route("/login", get(login::show).post(login::begin))
        .route("/assets/{name}", get(asset));
    let api =
        Router::new().route("/health", get(health::show)).route("/events", get(events::stream));
    let control = Router::new()
        .route("/codes", post(control::issue_code))
        .route("/logout", post(control::end_logins));
    Router::new()
        .merge(pages)
        .nest("/api/v1", api)
        .nest("/control", control)
        .fallback(reply::no_such_page)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn_with_state(site.clone(), guard))
        .with_state(site)
}
