//! Finding what was said.

use agentic_api::verb::{SEARCH_LIMIT_MAX, SearchOutcome, SearchTexts};
use agentic_api::{Caller, Refusal};
use agentic_resident::IndexDesk;
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::PageFrame;
use crate::page::search::{self, HITS_MAX, SearchSight};
use crate::route::reply::{html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// What is looked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchPageQuery {
    q: Option<String>,
    after: Option<usize>,
}

/// Shows the field, and what was found.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Query(asked): Query<SearchPageQuery>,
) -> Response {
    let query = asked.q.unwrap_or_default();
    let after = asked.after.unwrap_or(0).min(SEARCH_LIMIT_MAX - HITS_MAX);
    let mut sight = SearchSight { query: query.clone(), after, ..SearchSight::default() };
    sight.index = site.resident.index.text_state().view();
    if query.trim().is_empty() {
        let frame = PageFrame::new(&site, &visitor, "Search").with_command("agentic search QUERY");
        return html(StatusCode::OK, search::page(&frame, &sight));
    }
    let verb = SearchTexts { query, limit: Some(after + HITS_MAX) };
    let index = site.resident.index.clone();
    let found = site.read(move |caller| among(&verb, caller, &index)).await;
    let status = match found {
        Ok(SearchOutcome::Found(view)) => {
            sight.found = Some(view);
            StatusCode::OK
        }
        Ok(SearchOutcome::Unreadable(findings)) => {
            sight.findings = Some(findings.render_plain());
            StatusCode::BAD_REQUEST
        }
        Err(refusal) => return refused(&site, &visitor, &refusal, RequestAim::Show),
    };
    let command = format!("agentic search -- '{}'", sight.query.replace('\'', "'\\''"));
    let frame = PageFrame::new(&site, &visitor, "Search").with_command(&command);
    html(status, search::page(&frame, &sight))
}

fn among(
    verb: &SearchTexts,
    caller: &Caller<'_>,
    index: &IndexDesk,
) -> Result<SearchOutcome, Refusal> {
    verb.among(caller, &|scope, most| index.find(scope, most))
}
