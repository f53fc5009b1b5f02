//! What `agentic serve` asks a process that runs, through the socket alone.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::json;

use crate::entrance::{RequestEntrance, SocketPeer};
use crate::login::{LoginGrant, LoginRole};
use crate::object::{JsonObject, status_of_body};
use crate::site::SharedSite;

/// What a code is asked for.
#[derive(Debug, Deserialize)]
pub struct CodeRequest {
    /// Whether its login may only look.
    #[serde(default)]
    read_only: bool,
}

/// Makes a code that begins a login.
pub async fn issue_code(
    State(site): State<SharedSite>,
    Extension(entrance): Extension<RequestEntrance>,
    request: Result<Json<JsonObject<CodeRequest>>, JsonRejection>,
) -> Response {
    if entrance != RequestEntrance::Socket(SocketPeer::Person) {
        return not_for_agents();
    }
    let request = match request {
        Ok(Json(JsonObject(request))) => request,
        Err(error) => {
            return (status_of_body(&error), format!("{}\n", error.body_text())).into_response();
        }
    };
    let role = if request.read_only { LoginRole::Read } else { LoginRole::Decide };
    match site.issue_code(LoginGrant::own(role)) {
        Ok(code) => Json(code).into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

/// Ends all logins.
pub async fn end_logins(
    State(site): State<SharedSite>,
    Extension(entrance): Extension<RequestEntrance>,
) -> Response {
    if entrance != RequestEntrance::Socket(SocketPeer::Person) {
        return not_for_agents();
    }
    site.logins.end_all();
    Json(json!({})).into_response()
}

/// Makes the index anew.
pub async fn rebuild_index(
    State(site): State<SharedSite>,
    Extension(entrance): Extension<RequestEntrance>,
) -> Response {
    if entrance != RequestEntrance::Socket(SocketPeer::Person) {
        return not_for_agents();
    }
    site.resident.index.rebuild();
    Json(json!({})).into_response()
}

fn not_for_agents() -> Response {
    (StatusCode::FORBIDDEN, "only a person may ask this, through the socket\n").into_response()
}
