//! Sessions: lists, one at any of its records, one request, two beside each other.

use agentic_api::verb::{CompareSessions, RecentSessions, ReplayedSession, SessionShow};
use agentic_api::{Refusal, Verb as _};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::session::{self, SessionFilter, SessionQuery};
use crate::page::{PageFrame, session_diff};
use crate::route::reply::{html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// Which sessions are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionListQuery {
    agent: String,
    state: String,
    after: usize,
}

/// Which part of a session is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionPageQuery {
    at: Option<u64>,
    from: usize,
}

/// With which session one is to be compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareQuery {
    /// One of the list.
    #[serde(default)]
    with: String,
    /// Another one, which goes before.
    #[serde(default)]
    other: String,
}

/// From which row on a comparison is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComparePageQuery {
    from: usize,
}

/// Shows sessions, newest first.
pub async fn list(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Query(place): Query<SessionListQuery>,
) -> Response {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let verb = RecentSessions {
        agent: given(&place.agent),
        state: given(&place.state),
        after: place.after,
    };
    let index = site.resident.index.clone();
    match site.read(move |caller| verb.among(caller, &index.ledger())).await {
        Ok(page) => {
            let command = match place.agent.as_str() {
                "" => "agentic session list".to_owned(),
                agent => format!("agentic session list --agent {agent}"),
            };
            let frame = PageFrame::new(&site, &visitor, "Sessions").with_command(&command);
            let SessionListQuery { agent, state, after } = place;
            html(
                StatusCode::OK,
                session::list(&frame, &page, &SessionFilter { agent, state, after }),
            )
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Shows one session, as it stands or stood.
pub async fn one(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Query(place): Query<SessionPageQuery>,
) -> Response {
    let found = site.read(move |caller| {
        let shown = ReplayedSession { session: id, at: place.at }.run(caller)?.answer;
        let recent = RecentSessions::default().run(caller)?.answer.items;
        Ok((shown, recent))
    });
    match found.await {
        Ok((shown, recent)) => {
            let id = &shown.session.session;
            let command = match place.at {
                Some(at) => format!("agentic session show {id} --at {at}"),
                None => format!("agentic session show {id}"),
            };
            let frame = PageFrame::new(&site, &visitor, "Session").with_command(&command);
            let query = SessionQuery { at: place.at, from: place.from };
            html(StatusCode::OK, session::page(&frame, &shown, query, &recent))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Shows one request of a session.
pub async fn request(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path((id, seq)): Path<(String, u64)>,
) -> Response {
    let found = site.read(move |caller| {
        let mut shown = SessionShow { session: id, at: None }.run(caller)?.answer;
        let asked = shown.requests.take().unwrap_or_default();
        let asked = asked.into_iter().find(|asked| asked.seq == seq).ok_or_else(|| {
            let message = format!("record {seq} of session `{}` asks nothing", shown.session);
            Refusal::refused(&message, "the page of the session lists what it asked")
        })?;
        Ok((shown, asked))
    });
    match found.await {
        Ok((shown, asked)) => {
            let command = format!("agentic session show {}", shown.session);
            let frame = PageFrame::new(&site, &visitor, "Request").with_command(&command);
            html(StatusCode::OK, session::request_page(&frame, &shown, &asked))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Leads from a form to a comparison.
pub async fn choose(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    Query(place): Query<CompareQuery>,
) -> Response {
    let found = site.read(move |caller| {
        let left = caller.space.find_session(&id)?;
        let named = [place.other.trim(), place.with.trim()].into_iter().find(|it| !it.is_empty());
        let nobody = || Refusal::usage("nothing was named to compare with", "choose a session");
        let right = caller.space.find_session(named.ok_or_else(nobody)?)?;
        Ok(format!("/sessions/{left}/diff/{right}"))
    });
    match found.await {
        Ok(address) => Redirect::to(&address).into_response(),
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Shows two sessions beside each other.
pub async fn compare(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path((left, right)): Path<(String, String)>,
    Query(place): Query<ComparePageQuery>,
) -> Response {
    let verb = CompareSessions { left, right };
    match site.read(move |caller| Ok(verb.run(caller)?.answer)).await {
        Ok(found) => {
            let (left, right) = (&found.left.session, &found.right.session);
            let command = format!("agentic session diff {left} {right}");
            let frame = PageFrame::new(&site, &visitor, "Compared sessions").with_command(&command);
            html(StatusCode::OK, session_diff::page(&frame, &found, place.from))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}
