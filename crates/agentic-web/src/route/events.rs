//! What happens, as it happens: server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentic_api::view::EventView;
use agentic_resident::{EventPlace, EventSubscription, NumberedEvent};
use axum::Extension;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use crate::gate::Visitor;
use crate::site::SharedSite;

/// How many may listen at a time.
const STREAMS_MAX: usize = 256;
/// How often a stream says that it lives.
const ALIVE: Duration = Duration::from_secs(15);
/// After how long a listener that was cut off is to come back.
const RETURN: Duration = Duration::from_secs(1);
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
    Sse::new(EventStream { events }).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

/// Hands events on, one by one. Whoever is too slow is told to fetch anew; nobody waits for it.
async fn forward(site: SharedSite, subscription: EventSubscription, sender: mpsc::Sender<Event>) {
    // What comes behind a reset is newer than its place: nobody goes back.
    let EventSubscription { is_reset, missed, mut coming, place: mut told } = subscription;
    let epoch = site.resident.events.place().epoch;
    let reset = |n: u64| {
        let place = EventPlace { epoch: epoch.clone(), n };
        let at = site.resident.space.now().to_string();
        Event::default().event(RESET).id(place.to_string()).data(data(&EventView {
            n,
            at,
            ..EventView::default()
        }))
    };
    if sender.send(Event::default().retry(RETURN)).await.is_err() {
        return;
    }
    if is_reset && sender.send(reset(told)).await.is_err() {
        return;
    }
    for event in missed {
        if sender.send(said(&epoch, &event)).await.is_err() {
            return;
        }
    }
    let mut stop = site.ended.clone();
    loop {
        let next = tokio::select! {
            next = coming.recv() => next,
            () = sender.closed() => return,
            _ = stop.wait_for(|is_ended| *is_ended) => return,
        };
        let event = match next {
            Ok(event) if event.data.n <= told => continue,
            Ok(event) => said(&epoch, &event),
            Err(RecvError::Lagged(_)) => {
                coming = coming.resubscribe();
                told = site.resident.events.place().n;
                reset(told)
            }
            Err(RecvError::Closed) => return,
        };
        if sender.send(event).await.is_err() {
            return;
        }
    }
}

fn said(epoch: &str, event: &Arc<NumberedEvent>) -> Event {
    let id = format!("{epoch}-{}", event.data.n);
    Event::default().event(event.name.word()).id(id).data(data(&event.data))
}

fn data(event: &EventView) -> String {
    serde_json::to_string(event).expect("events have text keys")
}

/// The events of one listener.
struct EventStream {
    events: mpsc::Receiver<Event>,
}

impl futures_core::Stream for EventStream {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_recv(context).map(|event| event.map(Ok))
    }
}
