//! The API: what commands print with `--json`, by address.
//!
//! Every GET is a line of [`table::ROUTES`]: an address, what it takes, and the verb whose answer it
//! is. Lists come a page at a time; an answer that did not change is not sent twice.

mod answer;
mod decision;
mod page;
mod table;

use std::collections::{BTreeMap, HashMap};

use agentic_api::verb::ForeignQueries;
use agentic_api::{Caller, Refusal};
use agentic_resident::IndexDesk;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};

use self::page::ListPageRequest;
use self::table::ROUTES;
use crate::gate::Visitor;
use crate::site::SharedSite;
use crate::status::RequestAim;

pub use self::answer::{ApiAnswer, failed, failed_as};

/// The names by which every list takes which page is wanted.
const PAGE_PARAMETERS: [&str; 2] = ["limit", "after"];

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
}

/// What answers at an address.
#[derive(Clone, Copy)]
pub enum ApiVerb {
    /// One thing.
    One(fn(&ApiCall<'_>) -> Result<ApiAnswer, Refusal>),
    /// A list, a page of it.
    List(fn(&ApiCall<'_>, &ListPageRequest) -> Result<ApiAnswer, Refusal>),
}

/// What was asked for at an address.
pub struct ApiCall<'c> {
    /// Who asks the verb.
    pub caller: &'c Caller<'c>,
    /// Who asks for its answer.
    pub asker: &'c str,
    /// Whether a decision would be taken from them, and what seals it.
    pub token: &'c dyn Fn(&agentic_api::view::QuestionView) -> Option<String>,
    /// The queries of others that are being answered.
    pub queries: &'c ForeignQueries,
    /// What is kept for faster answers.
    pub index: &'c IndexDesk,
    path: BTreeMap<String, String>,
    query: BTreeMap<String, String>,
}

impl ApiCall<'_> {
    /// Returns a part of the address.
    pub fn part(&self, name: &str) -> String {
        self.path.get(name).cloned().unwrap_or_default()
    }

    /// Returns what stands behind `?` under a name.
    pub fn given(&self, name: &str) -> Option<String> {
        self.query.get(name).cloned()
    }

    /// Returns a number that stands behind `?`.
    ///
    /// # Errors
    /// Fails when it is none.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let wrong = |_| {
            let message = format!("`{name}` is no whole number");
            Refusal::usage(&message, "write it in digits")
        };
        self.given(name).map(|text| text.parse().map_err(wrong)).transpose()
    }

    /// Returns a number behind `?` that counts things in memory.
    ///
    /// # Errors
    /// Fails when it is none, and when there can be no so many.
    pub fn place(&self, name: &str) -> Result<Option<usize>, Refusal> {
        let many = |_| Refusal::usage(&format!("`{name}` is too large"), "there are fewer");
        self.number(name)?.map(|number| usize::try_from(number).map_err(many)).transpose()
    }

    /// Returns what is said with `true` or `false` behind `?`.
    ///
    /// # Errors
    /// Fails when it is neither.
    pub fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.given(name).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => {
                let message = format!("`{name}` is neither `true` nor `false`");
                Err(Refusal::usage(&message, "say one of them, or leave it out"))
            }
        }
    }
}

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
    router
        .route("/pending/{request}/decision", post(decision::decide))
        .fallback(no_such_address)
        .method_not_allowed_fallback(other_method)
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
            path: asked.path,
            query: asked.query,
        };
        match route.answer {
            ApiVerb::One(verb) => verb(&call),
            ApiVerb::List(verb) => verb(&call, &asked.page),
        }
    });
    match read.await {
        Ok(answer) => answer.response(&place, headers),
        Err(refusal) => failed(&refusal, route.aim),
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
