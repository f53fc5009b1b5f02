//! Statistics, as a page and as files for spreadsheets.

use agentic_api::verb::{Statistics, StatisticsStep};
use agentic_api::view::StatisticsTable;
use agentic_api::{Refusal, Verb as _};
use agentic_model::Instant;
use axum::Extension;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::PageFrame;
use crate::page::statistics::{self, StatisticsFilter};
use crate::route::reply::{download, html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// What statistics are wanted of.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsPageQuery {
    from: String,
    to: String,
    by: StatisticsStep,
    agent: String,
}

impl StatisticsPageQuery {
    fn verb(&self) -> Statistics {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let (from, to) = (given(&self.from), given(&self.to));
        Statistics { from, to, by: self.by, agent: given(&self.agent) }
    }
}

/// Shows statistics.
pub async fn show(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
    Query(place): Query<StatisticsPageQuery>,
) -> Response {
    let verb = place.verb();
    match site.read(move |caller| Ok(verb.run(caller)?.answer)).await {
        Ok(view) => {
            // There is no command that shows the same.
            let frame = PageFrame::new(&site, &visitor, "Statistics");
            let span = Instant::parse(&view.from).zip(Instant::parse(&view.to));
            let buckets = span.map(|(from, to)| place.by.buckets(from, to)).unwrap_or_default();
            let filter = StatisticsFilter {
                from: place.from,
                to: place.to,
                by: place.by.name().to_owned(),
                agent: place.agent,
                query: query.unwrap_or_default(),
            };
            html(StatusCode::OK, statistics::page(&frame, &view, &buckets, &filter))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Hands out one table of statistics.
pub async fn csv(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(file): Path<String>,
    Query(place): Query<StatisticsPageQuery>,
) -> Response {
    let Some(table) = file.strip_suffix(".csv").and_then(StatisticsTable::parse) else {
        let refusal = Refusal::refused(
            &format!("there are no statistics `{file}`"),
            "the page of statistics leads to its files",
        );
        return refused(&site, &visitor, &refusal, RequestAim::Show);
    };
    let verb = place.verb();
    match site.read(move |caller| Ok(verb.run(caller)?.answer)).await {
        Ok(view) => download(view.csv(table).into_bytes(), &format!("{}.csv", table.name())),
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}
