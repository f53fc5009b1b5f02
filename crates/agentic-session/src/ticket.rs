//! Tickets: what a client of another protocol gets with a list of holds, and sends back with its
//! answers.
//!
//! A ticket is bound to the person it was made for, to the requests on the list, to how their
//! sessions stood, and to a time; it is sealed by a secret of this space. A session that was
//! answered does not stand as before, so a ticket serves once.

use std::collections::BTreeMap;

use agentic_model::{Instant, Map, Value, json};
use agentic_store::secret;
use agentic_store::spent::{self, SealSpending, SealedText};

use crate::error::{DecisionError, RequestError};
use crate::hold::PendingHold;
use crate::own::read_journal;
use crate::{Error, Result, SessionSpace};

/// Milliseconds of a minute.
const MINUTE_MILLIS: i64 = 60 * 1000;

/// Who gets a ticket, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketTerms<'t> {
    /// The person it is made for.
    pub principal: &'t str,
    /// How many minutes it is good.
    pub minutes: u32,
}

/// A ticket that came back and is sound.
#[derive(Debug)]
pub struct Ticket {
    /// How the session of each request stood, by the printed id of the request.
    chains: BTreeMap<String, String>,
    /// The hash of the text that each request was shown as.
    shown: BTreeMap<String, String>,
    /// What was sealed.
    text: String,
    /// When it was made.
    at: Instant,
    until: Instant,
}

/// Makes a ticket for a list of holds. `shown` tells the hash of the text that one is shown as.
///
/// # Errors
/// Fails when a session cannot be read or the secret cannot be made.
pub fn hand_out(
    space: &SessionSpace,
    pending: &[PendingHold],
    terms: TicketTerms<'_>,
    shown: impl Fn(&PendingHold) -> Option<String>,
) -> Result<String> {
    let (mut requests, mut texts) = (Map::new(), Map::new());
    for pending in pending {
        let chain = read_journal(space, &pending.hold.session)?.chain().head().to_string();
        let request = pending.hold.session.short_request(&pending.hold.id);
        texts.extend(shown(pending).map(|hash| (request.clone(), Value::Text(hash))));
        requests.insert(request, Value::Text(chain));
    }
    let at = space.now();
    let until = at.plus_millis(i64::from(terms.minutes) * MINUTE_MILLIS).millis();
    let text = json::to_text(&Value::map([
        ("at", Value::Int(at.millis())),
        ("principal", Value::text(terms.principal)),
        ("requests", Value::Map(requests)),
        ("shown", Value::Map(texts)),
        ("until", Value::Int(until)),
    ]));
    Ok(secret::seal(space.repository().layout(), &text)?)
}

/// Checks a ticket that a person sends back.
///
/// # Errors
/// Fails when this space did not make it, or made it for somebody else or too long ago.
pub fn take_back(space: &SessionSpace, ticket: &str, principal: &str) -> Result<Ticket> {
    let refused = |reason: &str| {
        Error::Decision(DecisionError::NotAllowed {
            what: "answer with this state".to_owned(),
            reason: reason.to_owned(),
        })
    };
    let foreign = || refused("it was not made here");
    let text = secret::open(space.repository().layout(), ticket)?.ok_or_else(foreign)?;
    let value = json::from_text(&text).map_err(|_| foreign())?;
    if value.get("principal").and_then(Value::as_text) != Some(principal) {
        return Err(refused(&format!("it was made for somebody else than `{principal}`")));
    }
    let time = |key: &str| value.get(key).and_then(Value::as_int).ok_or_else(foreign);
    let (at, until) = (time("at")?, time("until")?);
    if until <= space.now().millis() {
        let minutes = (until - at) / MINUTE_MILLIS;
        return Err(refused(&format!("it is older than {minutes} minutes")));
    }
    let texts = |key: &str| {
        let map = value.get(key).and_then(Value::as_map).into_iter().flatten();
        let text = |(request, text): (&String, &Value)| {
            text.as_text().map(|text| (request.clone(), text.to_owned()))
        };
        map.filter_map(text).collect()
    };
    let (chains, shown) = (texts("requests"), texts("shown"));
    let (at, until) = (Instant::from_millis(at), Instant::from_millis(until));
    Ok(Ticket { chains, shown, text, at, until })
}

impl Ticket {
    /// Returns the hash of the text that a request was shown as, and when; nothing, where that is not known.
    pub fn shown(&self, request: &str) -> Option<(String, Instant)> {
        let shown = self.shown.get(request)?.clone();
        Some((shown, self.at))
    }

    /// Notes that the answer to a request came back with this ticket. It does so once.
    ///
    /// # Errors
    /// Fails when it did before, and when that cannot be noted.
    pub fn spend(&self, space: &SessionSpace, request: &str) -> Result<()> {
        let text = format!("{}\n{request}", self.text);
        let (until, now) = (self.until.millis(), space.now().millis());
        let sealed = SealedText { text: &text, until, now };
        match spent::spend(space.repository().layout(), sealed)? {
            SealSpending::Now => Ok(()),
            SealSpending::Before => Err(Error::Decision(DecisionError::NotAllowed {
                what: format!("decide {request} with this state"),
                reason: "it came back before".to_owned(),
            })),
        }
    }

    /// Checks that a hold was on the list and stands as it stood then.
    ///
    /// # Errors
    /// Fails when it was not, or does not.
    pub fn check(&self, space: &SessionSpace, pending: &PendingHold) -> Result<()> {
        let request = pending.hold.session.short_request(&pending.hold.id);
        let Some(chain) = self.chains.get(&request) else {
            return Err(Error::Decision(DecisionError::NotAllowed {
                what: format!("decide {request} with this state"),
                reason: "it was made for other requests".to_owned(),
            }));
        };
        let stands = read_journal(space, &pending.hold.session)?.chain().head().to_string();
        if stands == *chain { Ok(()) } else { Err(Error::Request(RequestError::Stale { request })) }
    }
}
