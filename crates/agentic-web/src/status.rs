//! What a refusal is to a browser.

use agentic_model::guidance::ErrorClass;
use axum::http::StatusCode;

/// Whether something was asked for by its name, or asked to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestAim {
    /// It is to be shown; what is refused is not there.
    Show,
    /// It is to be done.
    Act,
}

/// Returns the status of a refusal.
pub fn status_of(class: ErrorClass, aim: RequestAim) -> StatusCode {
    match class {
        ErrorClass::Refused if aim == RequestAim::Show => StatusCode::NOT_FOUND,
        ErrorClass::Refused | ErrorClass::Usage => StatusCode::BAD_REQUEST,
        ErrorClass::Conflict | ErrorClass::Diverged | ErrorClass::Decided => StatusCode::CONFLICT,
        ErrorClass::Corrupt => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorClass::Schema => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorClass::NotAllowed => StatusCode::FORBIDDEN,
        ErrorClass::Unreachable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorClass::Expired => StatusCode::GONE,
    }
}
