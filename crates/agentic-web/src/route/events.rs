//! What happens, as it happens: server-sent events.
//!
//! What comes within a moment is handed on together: a busy repository makes hundreds of events a second,
//! and each is for hundreds of listeners.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentic_api::view::EventView;
use agentic_resident::{EventPlace, EventSubscription, NumberedEvent};
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc;

use crate::gate::Visitor;
use crate::site::SharedSite;

/// How many may listen at a time.
const STREAMS_MAX: usize = 256;
/// How often a stream says that it lives.
const ALIVE: Duration = Duration::from_secs(15);
/// How long is waited for more after something that is to be told.
const MOMENT: Duration = Duration::from_millis(5);
/// How many events are handed on together at most.
const TOGETHER_MAX: usize = 32;
/// What says that a stream lives.
const LIVES: &str = ":\n\n";
/// After how many milliseconds a listener that was cut off is to come back.
const RETURN: &str = "retry: 1000\n\n";
/// The name of the event that tells to fetch anew.
const RESET: &str = "reset";

/// From where on events are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamQuery {
    from: Option<String>,
}

/// Hands out events until whoever listens goes away.
pub async fn stream(
    State(site): State<SharedSite>,
    Extension(visitor): Extension<Visitor>,
    Query(place): Query<StreamQuery>,
    headers: HeaderMap,
) -> Response {
    if !visitor.may_read() {
        return (StatusCode::UNAUTHORIZED, "log in to listen\n").into_response();
    }
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let from = last.map(str::to_owned).or(place.from);
    // A place that nobody gave out is one of another epoch.
    let unknown = || EventPlace { epoch: String::new(), n: 0 };
    let from = from.map(|text| text.parse().unwrap_or_else(|()| unknown()));
    let Some(subscription) = site.resident.events.subscribe(from.as_ref(), STREAMS_MAX) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many listen already\n").into_response();
    };
    let (sender, events) = mpsc::channel(1);
    tokio::spawn(forward(site, subscription, sender));
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (kind, Body::from_stream(EventStream { events })).into_response()
}

/// Hands events on. Whoever is too slow is told to fetch anew; nobody waits for it.
async fn forward(site: SharedSite, subscription: EventSubscription, sender: mpsc::Sender<Bytes>) {
    // What comes behind a reset is newer than its place: nobody goes back.
    let EventSubscription { is_reset, missed, mut coming, place: mut told } = subscription;
    let epoch = site.resident.events.place().epoch;
    let mut said = RETURN.to_owned();
    if is_reset {
        said += &reset(&site, told);
    }
    missed.iter().for_each(|event| say(&mut said, &epoch, event));
    let mut stop = site.ended.clone();
    loop {
        // Nothing would be the end.
        if !said.is_empty() && sender.send(std::mem::take(&mut said).into()).await.is_err() {
            return;
        }
        let next = tokio::select! {
            next = coming.recv() => next,
            () = tokio::time::sleep(ALIVE) => {
                said += LIVES;
                continue;
            }
            () = sender.closed() => return,
            _ = stop.wait_for(|is_ended| *is_ended) => return,
        };
        let mut next = next.map_err(|error| match error {
            RecvError::Closed => TryRecvError::Closed,
            RecvError::Lagged(n) => TryRecvError::Lagged(n),
        });
        if next.is_ok() {
            tokio::time::sleep(MOMENT).await;
        }
        let mut n_left = TOGETHER_MAX;
        loop {
            match next {
                Ok(event) if event.data.n <= told => {}
                Ok(event) => say(&mut said, &epoch, &event),
                Err(TryRecvError::Lagged(_)) => {
                    coming = coming.resubscribe();
                    told = site.resident.events.place().n;
                    said += &reset(&site, told);
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Closed) => return,
            }
            n_left -= 1;
            if n_left == 0 {
                break;
            }
            next = coming.try_recv();
        }
    }
}

/// Tells to fetch anew what was before the event of a number, and that one.
fn reset(site: &SharedSite, n: u64) -> String {
    let place = EventPlace { epoch: site.resident.events.place().epoch, n };
    let view = EventView { n, at: site.resident.space.now().to_string(), ..EventView::default() };
    let data = serde_json::to_string(&view).expect("events have text keys");
    format!("event: {RESET}\nid: {place}\ndata: {data}\n\n")
}

fn say(said: &mut String, epoch: &str, event: &NumberedEvent) {
    let (name, n, data) = (event.name.word(), event.data.n, event.text());
    write!(said, "event: {name}\nid: {epoch}-{n}\ndata: {data}\n\n")
        .expect("a string takes everything");
}

/// The events of one listener.
struct EventStream {
    events: mpsc::Receiver<Bytes>,
}

impl futures_core::Stream for EventStream {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_recv(context).map(|event| event.map(Ok))
    }
}
