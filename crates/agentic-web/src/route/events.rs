//! What happens, as it happens: server-sent events.
//!
//! What comes within a moment is handed on together: a busy repository makes hundreds of events a second,
//! and each is for hundreds of listeners.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentic_api::Refusal;
use agentic_api::view::EventView;
use agentic_resident::{EventPlace, EventSubscription, NumberedEvent};
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc;

use crate::api::{failed_as, login_wanted};
use crate::gate::{SOCKET_LOGIN, Visitor};
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
    place: Result<Query<StreamQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    if !visitor.may_read() {
        return login_wanted();
    }
    let place = match place {
        Ok(Query(place)) => place,
        Err(error) => {
            let refusal = Refusal::usage(&error.body_text(), "it takes from, once");
            return failed_as(StatusCode::BAD_REQUEST, &refusal);
        }
    };
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let from = last.map(str::to_owned).or(place.from);
    // A place that nobody gave out is one of another epoch.
    let unknown = || EventPlace { epoch: String::new(), n: 0 };
    let from = from.map(|text| text.parse().unwrap_or_else(|()| unknown()));
    let Some(subscription) = site.resident.events.subscribe(from.as_ref(), STREAMS_MAX) else {
        let refusal = Refusal::refused("too many listen already", "end a stream, or wait");
        return failed_as(StatusCode::SERVICE_UNAVAILABLE, &refusal);
    };
    let (sender, events) = mpsc::channel(1);
    let login = visitor.form_owner().to_owned();
    let listener = EventListener { login, sender };
    tokio::spawn(forward(site, subscription, listener));
    let cache = (header::CACHE_CONTROL, "private, no-cache");
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), cache];
    (kind, Body::from_stream(EventStream { events })).into_response()
}

/// Who listens, as long as they are logged in.
struct EventListener {
    login: String,
    sender: mpsc::Sender<Bytes>,
}

impl EventListener {
    /// Hands something on; says whether more is wanted, and may be told.
    async fn hear(&self, site: &SharedSite, said: String) -> bool {
        let is_in = self.login == SOCKET_LOGIN || site.logins.is_open(&self.login);
        is_in && self.sender.send(said.into()).await.is_ok()
    }
}

/// Hands events on. Whoever is too slow is told to fetch anew; nobody waits for it.
async fn forward(site: SharedSite, subscription: EventSubscription, listener: EventListener) {
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
        if !said.is_empty() && !listener.hear(&site, std::mem::take(&mut said)).await {
            return;
        }
        let next = tokio::select! {
            next = coming.recv() => next,
            () = tokio::time::sleep(ALIVE) => {
                said += LIVES;
                continue;
            }
            () = listener.sender.closed() => return,
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
