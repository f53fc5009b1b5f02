//! What an address of the API is: what it takes, which verb answers, and what the answer derives from.

use agentic_api::Refusal;
use agentic_session::outlook::Permanence;

use super::answer::ApiAnswer;
use super::call::ApiCall;
use super::ground::GroundPart;
use super::page::ListPageRequest;
use crate::status::RequestAim;

/// One address of the API.
pub struct ApiRoute {
    /// The address, below `/api/v1`.
    pub path: &'static str,
    /// What may stand behind `?`, besides what every list takes.
    pub takes: &'static [&'static str],
    /// Whether what is refused is missing, or was asked wrongly.
    pub aim: RequestAim,
    /// What answers.
    pub answer: ApiVerb,
    /// What the answer derives from.
    pub derives: &'static [GroundPart],
    /// For how long it is the same while nothing of that changes.
    pub lasts: fn(&ApiCall<'_>) -> Result<Permanence, Refusal>,
    /// Whether it is kept in memory for so long.
    pub is_kept: bool,
}

/// What answers at an address.
#[derive(Clone, Copy)]
pub enum ApiVerb {
    /// One thing.
    One(fn(&ApiCall<'_>) -> Result<ApiAnswer, Refusal>),
    /// A list, a page of it.
    List(fn(&ApiCall<'_>, &ListPageRequest) -> Result<ApiAnswer, Refusal>),
}

impl ApiRoute {
    /// Says what may stand behind `?`.
    pub const fn taking(self, takes: &'static [&'static str]) -> ApiRoute {
        ApiRoute { takes, ..self }
    }

    /// Says that what is refused there is a text that says nothing, and nothing that is missing.
    pub const fn asking(self) -> ApiRoute {
        ApiRoute { aim: RequestAim::Act, ..self }
    }

    /// Says what the answer derives from.
    pub const fn deriving(self, derives: &'static [GroundPart]) -> ApiRoute {
        ApiRoute { derives, ..self }
    }

    /// Has it kept in memory, for it takes long.
    pub const fn kept(self) -> ApiRoute {
        ApiRoute { is_kept: true, ..self }
    }

    /// Says for how long it is the same while nothing of that changes.
    pub const fn lasting(self, lasts: fn(&ApiCall<'_>) -> Result<Permanence, Refusal>) -> ApiRoute {
        ApiRoute { lasts, ..self }
    }
}

/// An address of one thing.
pub const fn one(
    path: &'static str,
    verb: fn(&ApiCall<'_>) -> Result<ApiAnswer, Refusal>,
) -> ApiRoute {
    route(path, ApiVerb::One(verb))
}

/// An address of a list.
pub const fn list(
    path: &'static str,
    verb: fn(&ApiCall<'_>, &ListPageRequest) -> Result<ApiAnswer, Refusal>,
) -> ApiRoute {
    route(path, ApiVerb::List(verb))
}

const fn route(path: &'static str, answer: ApiVerb) -> ApiRoute {
    let aim = RequestAim::Show;
    ApiRoute { path, takes: &[], aim, answer, derives: &[], lasts: for_good, is_kept: false }
}

fn for_good(_: &ApiCall<'_>) -> Result<Permanence, Refusal> {
    Ok(Permanence::Still)
}
