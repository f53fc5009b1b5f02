//! The API: what commands print with `--json`, by address.
//!
//! Every GET is a line of [`table::ROUTES`]: an address, what it takes, and the verb whose answer it
//! is. Lists come a page at a time; an answer that did not change is not sent twice.

mod answer;
mod call;
mod decision;
mod ground;
mod kept;
mod page;
mod route;
mod table;

use std::collections::{BTreeMap, HashMap};

use agentic_api::Refusal;
use agentic_session::outlook::Permanence;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};

use self::answer::{KnownTags, unchanged};
use self::call::ApiCall;
use self::ground::GroundTag;
use self::page::ListPageRequest;
use self::route::{ApiRoute, ApiVerb};
use self::table::ROUTES;
use crate::gate::Visitor;
use crate::site::SharedSite;
use crate::status::RequestAim;

pub use self::answer::{ApiAnswer, failed, failed_as};
pub use self::kept::KeptAnswers;

/// The names by which every list takes which page is wanted.
const PAGE_PARAMETERS: [&str; 2] = ["limit", "after"];

/// Makes the routes of the API that verbs answer.
pub fn router() -> Router<SharedSite> {
    let mut router = Router::new();
    for route in ROUTES {
        let handler = move |site: State<SharedSite>,
                            visitor: Extension<Visitor>,
                            path: Result<Path<HashMap<String, String>>, PathRejection>,
                            query: Result<Query<Vec<(String, String)>>, QueryRejection>,
                            headers: HeaderMap| async move {
            let asked = match asked(route, path, query) {
                Ok(asked) => asked,
                Err((status, refusal)) => return failed_as(status, &refusal),
            };
            answer(route, site.0, visitor.0, asked, &headers).await
        };
        router = router.route(route.path, get(handler));
    }
    router.route("/pending/{request}/decision", post(decision::decide))
}

/// Has everything else below the API refused in the shape that programs read. Whatever is there must be in
/// the router already.
pub fn refusing(router: Router<SharedSite>) -> Router<SharedSite> {
    router.fallback(no_such_address).method_not_allowed_fallback(other_method)
}

/// What an address and what stands behind `?` say.
struct AskedFor {
    path: BTreeMap<String, String>,
    query: BTreeMap<String, String>,
    page: ListPageRequest,
}

fn asked(
    route: &ApiRoute,
    path: Result<Path<HashMap<String, String>>, PathRejection>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> Result<AskedFor, (StatusCode, Refusal)> {
    let bad = |refusal: Refusal| (StatusCode::BAD_REQUEST, refusal);
    let hint = "write addresses as UTF-8, with `%` before what means something else";
    let path = path.map_err(|error| bad(Refusal::usage(&error.body_text(), hint)))?.0;
    let given = query.map_err(|error| bad(Refusal::usage(&error.body_text(), hint)))?.0;
    let is_list = matches!(route.answer, ApiVerb::List(_));
    let pages: &[&str] = if is_list { &PAGE_PARAMETERS } else { &[] };
    let mut query = BTreeMap::new();
    for (name, value) in given {
        if !route.takes.contains(&name.as_str()) && !pages.contains(&name.as_str()) {
            let takes: Vec<&str> = route.takes.iter().chain(pages).copied().collect();
            let hint = match takes.as_slice() {
                [] => "it takes none".to_owned(),
                takes => format!("it takes {}", takes.join(", ")),
            };
            let message = format!("`{}` is no parameter of this", name.escape_debug());
            return Err(bad(Refusal::usage(&message, &hint)));
        }
        if query.insert(name.clone(), value).is_some() {
            let message = format!("`{name}` is given twice");
            return Err(bad(Refusal::usage(&message, "give it once")));
        }
    }
    let page = ListPageRequest::of(&mut query).map_err(bad)?;
    Ok(AskedFor { path: path.into_iter().collect(), query, page })
}

async fn answer(
    route: &'static ApiRoute,
    site: SharedSite,
    visitor: Visitor,
    asked: AskedFor,
    headers: &HeaderMap,
) -> Response {
    if !visitor.may_read() {
        return login_wanted();
    }
    // What is read now has at least these events in it.
    let place = site.resident.events.place();
    let (epoch, known) = (place.epoch.clone(), KnownTags::of(headers));
    let shared = SharedSite::clone(&site);
    let asker = visitor.clone();
    let read = site.read_as(&asker, move |caller| {
        let token = |question: &agentic_api::view::QuestionView| {
            visitor.may_decide().then(|| decision::seal(&shared, &visitor, question))
        };
        let call = ApiCall {
            caller,
            asker: visitor.form_owner(),
            token: &token,
            queries: &shared.queries,
            index: &shared.resident.index,
            kept: &shared.answers,
            epoch: &epoch,
            path: asked.path,
            query: asked.query,
        };
        let reply = route.reply(&call, &asked.page, &known)?;
        Ok((reply, known))
    });
    match read.await {
        Ok((ApiReply::New(answer), known)) => answer.response(&place, &known),
        Ok((ApiReply::Known(tag), _)) => unchanged(&tag),
        Err(refusal) => failed(&refusal, route.aim),
    }
}

/// What is told whoever asks.
enum ApiReply {
    /// This.
    New(ApiAnswer),
    /// The answer with this tag, which they have.
    Known(String),
}

impl ApiRoute {
    /// Asks the verb, unless whoever asks has what it would answer.
    fn reply(
        &self,
        call: &ApiCall<'_>,
        page: &ListPageRequest,
        known: &KnownTags,
    ) -> Result<ApiReply, Refusal> {
        let salt = format!("{} {} {page:?}", call.epoch, self.path);
        let ground = GroundTag::of(call, &salt, self.derives);
        let reaching = |ground: &GroundTag| known.reaching(ground, call.caller.space.now());
        if let Some(tag) = ground.as_ref().and_then(reaching) {
            return Ok(ApiReply::Known(tag));
        }
        let kept = |ground: &GroundTag| call.kept.find(ground, call.caller.space.now());
        if let Some(answer) = ground.as_ref().filter(|_| self.is_kept).and_then(kept) {
            return Ok(ApiReply::New(answer));
        }
        // Before the verb reads: what changes in between is not taken for what it has read.
        let permanence = (self.lasts)(call).unwrap_or(Permanence::Moves);
        let answer = match self.answer {
            ApiVerb::One(verb) => verb(call)?,
            ApiVerb::List(verb) => verb(call, page)?,
        };
        let answer = answer.derived(ground).lasting(permanence);
        if self.is_kept {
            call.kept.keep(&answer);
        }
        Ok(ApiReply::New(answer))
    }
}

/// Answers somebody who is not logged in.
pub fn login_wanted() -> Response {
    let refusal = Refusal::not_allowed(
        "nobody is logged in here",
        "`agentic serve open` logs a browser in; programs of this user ask through the socket",
    );
    failed_as(StatusCode::UNAUTHORIZED, &refusal)
}

async fn no_such_address(visitor: Extension<Visitor>) -> Response {
    unknown_address(&visitor)
}

/// Answers where there is nothing that programs could read.
pub fn unknown_address(visitor: &Visitor) -> Response {
    if !visitor.may_read() {
        return login_wanted();
    }
    let hint = "the addresses below `/api/v1` are those of docs/api.md";
    let refusal = Refusal::refused("there is no such address", hint);
    failed(&refusal, RequestAim::Show)
}

async fn other_method() -> Response {
    let hint = "decisions are posted to `pending/REQUEST/decision`; all else is read by GET";
    let refusal = Refusal::usage("this cannot be done at this address", hint);
    failed_as(StatusCode::METHOD_NOT_ALLOWED, &refusal)
}
