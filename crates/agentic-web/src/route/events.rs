//! What happens, as it happens: server-sent events.
//!
//! What is told together is sent together: a busy repository makes hundreds of events a second, and each
//! is for hundreds of listeners.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use agentic_api::Refusal;
use agentic_api::view::EventView;
use agentic_resident::{EventBatch, EventPlace, EventSubscription, NumberedEvent};
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::api::{failed_as, login_wanted};
use crate::gate::{SOCKET_LOGIN, Visitor, still_in};
use crate::login::Login;
use crate::site::SharedSite;

/// How many may listen at a time.
const STREAMS_MAX: usize = 256;
/// How often a stream says that it lives.
const ALIVE: Duration = Duration::from_secs(15);
/// What says that a stream lives.
const LIVES: &[u8] = b":\n\n";
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
    let last = headers.get("last-event-id").map(|value| String::from_utf8_lossy(value.as_bytes()));
    let from = last.map(String::from).or(place.from);
    // A place that nobody gave out is one of another epoch.
    let unknown = || EventPlace { epoch: String::new(), n: 0 };
    let from = from.map(|text| text.parse().unwrap_or_else(|()| unknown()));
    let Some(subscription) = site.resident.events.subscribe(from.as_ref(), STREAMS_MAX) else {
        let refusal = Refusal::refused("too many listen already", "end a stream, or wait");
        return failed_as(StatusCode::SERVICE_UNAVAILABLE, &refusal);
    };
    let listener = EventListener::new(site, visitor.login, subscription);
    let cache = (header::CACHE_CONTROL, "private, no-cache");
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), cache];
    (kind, Body::from_stream(unfold(listener, EventListener::hear))).into_response()
}

/// Who listens, as long as they are logged in.
struct EventListener {
    site: SharedSite,
    login: Option<Login>,
    coming: Receiver<Arc<EventBatch>>,
    /// The number of the last event that was told, or that is not to be told any more.
    told: u64,
    /// What is to be told before what comes.
    first: Option<String>,
    alive: Interval,
}

impl EventListener {
    fn new(
        site: SharedSite,
        login: Option<Login>,
        subscription: EventSubscription,
    ) -> EventListener {
        let EventSubscription { is_reset, missed, coming, place: told } = subscription;
        let mut first = RETURN.to_owned();
        // What comes behind a reset is newer than its place: nobody goes back.
        if is_reset {
            first += &reset(&site, told);
        }
        first += &written(&site.resident.events.place().epoch, &missed);
        let mut alive = interval_at(Instant::now() + ALIVE, ALIVE);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        EventListener { site, login, coming, told, first: Some(first), alive }
    }

    /// Returns what is to be told next; nothing where more may not be told.
    async fn hear(mut self) -> Option<(Result<Bytes, Infallible>, EventListener)> {
        let said = match self.first.take() {
            // Who came behind the end is told nothing.
            Some(_) if *self.site.ended.borrow() => return None,
            Some(first) => first.into(),
            None => self.next().await?,
        };
        let id = self.login.as_ref().map_or("", |login| &login.id);
        let is_in = id == SOCKET_LOGIN || self.site.logins.is_open(id);
        is_in.then_some((Ok(said), self))
    }

    /// Waits for what comes. Whoever is too slow is told to fetch anew; nobody waits for it.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let coming = tokio::select! {
                coming = self.coming.recv() => coming,
                _ = self.alive.tick() => {
                    self.login = still_in(&self.site, self.login.take()).await;
                    return Some(Bytes::from_static(LIVES));
                }
            };
            let events = &self.site.resident.events;
            match coming {
                Ok(batch) if batch.last() <= self.told => {}
                Ok(batch) if !events.is_too_slow(&batch) => {
                    let write =
                        |events: &[_]| written(&self.site.resident.events.place().epoch, events);
                    return Some(batch.written(write));
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {
                    self.coming = self.coming.resubscribe();
                    self.told = events.place().n;
                    return Some(reset(&self.site, self.told).into());
                }
                Err(RecvError::Closed) => return None,
            }
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

/// Writes events as they are sent.
fn written(epoch: &str, events: &[Arc<NumberedEvent>]) -> String {
    let mut text = String::new();
    for event in events {
        let (name, n) = (event.name.word(), event.data.n);
        let data = serde_json::to_string(&event.data).expect("events have text keys");
        write!(text, "event: {name}\nid: {epoch}-{n}\ndata: {data}\n\n")
            .expect("a string takes everything");
    }
    text
}
