//! Traces and typed objects, by their ids.

use agentic_api::verb::{ObjectGet, TraceShow};
use agentic_api::view::{EntryView, TraceView};
use agentic_api::{Caller, Refusal, Verb as _};
use agentic_model::{Cid, Object};
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;

use crate::gate::Visitor;
use crate::page::PageFrame;
use crate::page::trace::{self, EntrySight};
use crate::route::reply::{download, html, refused};
use crate::site::SharedSite;
use crate::status::RequestAim;

/// Which part of a trace is wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TracePageQuery {
    from: usize,
    /// One entry by itself, from 1.
    entry: Option<usize>,
}

/// Shows a trace, or one entry of it.
pub async fn trace(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(cid): Path<String>,
    Query(place): Query<TracePageQuery>,
) -> Response {
    let found = site.read(move |caller| {
        let trace = find(caller, cid)?;
        place.entry.map_or(Ok(()), |place| entry(&trace, place).map(|_| ()))?;
        Ok(trace)
    });
    let trace = match found.await {
        Ok(trace) => trace,
        Err(refusal) => return refused(&site, &visitor, &refusal, RequestAim::Show),
    };
    let command = format!("agentic trace show {}", trace.cid);
    let frame = PageFrame::new(&site, &visitor, "Trace").with_command(&command);
    let Some(place_of) = place.entry else {
        return html(StatusCode::OK, trace::page(&frame, &trace, place.from));
    };
    match entry(&trace, place_of).cloned() {
        Ok(entry) => {
            let sight = EntrySight { trace, place: place_of };
            html(StatusCode::OK, trace::entry_page(&frame, &sight, &entry))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Hands out the bytes of one entry.
pub async fn entry_bytes(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path((cid, place)): Path<(String, usize)>,
) -> Response {
    let found = site.read(move |caller| {
        let trace = find(caller, cid)?;
        let entry = entry(&trace, place)?;
        let bytes = match (&entry.text, &entry.base64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(text)) => BASE64.decode(text).expect("an entry shows its bytes in base64"),
            (None, None) => Vec::new(),
        };
        Ok((trace.cid, bytes))
    });
    match found.await {
        Ok((cid, bytes)) => download(bytes, &format!("{cid}-{place}")),
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Finds a trace by its id.
fn find(caller: &Caller<'_>, cid: String) -> Result<TraceView, Refusal> {
    check_cid(&cid)?;
    Ok(TraceShow { id: cid }.run(caller)?.answer)
}

fn entry(trace: &TraceView, place: usize) -> Result<&EntryView, Refusal> {
    let found = place.checked_sub(1).and_then(|at| trace.entries.get(at));
    found.ok_or_else(|| {
        let message = format!("trace `{}` has no entry {place}", trace.cid);
        Refusal::refused(&message, "entries are counted from 1")
    })
}

/// Refuses what has a meaning elsewhere and is no id of an object.
fn check_cid(text: &str) -> Result<(), Refusal> {
    match text.starts_with(Cid::PREFIX) {
        true => Ok(()),
        false => Err(Refusal::refused(
            &format!("`{text}` is no id of an object"),
            "the id of an object begins with `bafy`",
        )),
    }
}

/// Reads a typed object by its id.
fn stored(caller: &Caller<'_>, cid: String) -> Result<Object, Refusal> {
    check_cid(&cid)?;
    ObjectGet { cid }.read(caller)
}

/// Shows a typed object.
pub async fn object(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(cid): Path<String>,
) -> Response {
    let found = site.read(move |caller| {
        let object = stored(caller, cid)?;
        let shown = agentic_model::Value::Map(object.map().clone());
        Ok((object.cid().to_string(), agentic_model::json::to_json(&shown)))
    });
    match found.await {
        Ok((cid, object)) => {
            let command = format!("agentic object get {cid}");
            let frame = PageFrame::new(&site, &visitor, "Object").with_command(&command);
            html(StatusCode::OK, trace::object_page(&frame, &cid, &object))
        }
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}

/// Hands out the canonical bytes of a typed object.
pub async fn object_bytes(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Path(cid): Path<String>,
) -> Response {
    let found = site.read(move |caller| {
        let object = stored(caller, cid)?;
        Ok((object.cid().to_string(), object.bytes().to_vec()))
    });
    match found.await {
        Ok((cid, bytes)) => download(bytes, &format!("{cid}.cbor")),
        Err(refusal) => refused(&site, &visitor, &refusal, RequestAim::Show),
    }
}
