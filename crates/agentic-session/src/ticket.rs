//! Tickets: what a client of another protocol gets with a list of holds, and sends back with its
//! answers.
//!
//! A ticket is bound to the person it was made for, to the requests on the list, to how their
//! sessions stood, and to an hour; it is sealed by a secret of this space. A session that was
//! answered does not stand as before, so a ticket serves once.

use std::collections::BTreeMap;

use agentic_model::{Instant, Map, Value, json};
use agentic_store::secret;
use agentic_store::spent::{self, SealSpending, SealedText};

use crate::error::{DecisionError, RequestError};
use crate::hold::PendingHold;
use crate::own::read_journal;
use crate::{Error, Result, SessionSpace};

/// How long a ticket is good, in milliseconds.
const LIFETIME_MILLIS: i64 = 60 * 60 * 1000;
/// How many bytes of seal stand before the text of a ticket, in hexadecimal digits.
const SEAL_CHARS: usize = 64;

/// A ticket that came back and is sound.
#[derive(Debug)]
pub struct Ticket {
    /// How the session of each request stood, by the printed id of the request.
    chains: BTreeMap<String, String>,
    /// The hash of the text that each request was shown as.
    shown: BTreeMap<String, String>,
    /// What was sealed.
    text: String,
    until: Instant,
}

/// Makes a ticket for a list of holds. `shown` tells the hash of the text that one is shown as.
///
/// # Errors
/// Fails when a session cannot be read or the secret cannot be made.
pub fn hand_out(
    space: &SessionSpace,
    pending: &[PendingHold],
    principal: &str,
    shown: impl Fn(&PendingHold) -> Option<String>,
) -> Result<String> {
    let (mut requests, mut texts) = (Map::new(), Map::new());
    for pending in pending {
        let chain = read_journal(space, &pending.hold.session)?.chain().head().to_string();
        let request = pending.hold.session.short_request(&pending.hold.id);
        texts.extend(shown(pending).map(|hash| (request.clone(), Value::Text(hash))));
        requests.insert(request, Value::Text(chain));
    }
    let until = space.now().plus_millis(LIFETIME_MILLIS).millis();
    let text = json::to_text(&Value::map([
        ("principal", Value::text(principal)),
        ("requests", Value::Map(requests)),
        ("shown", Value::Map(texts)),
        ("until", Value::Int(until)),
    ]));
    let seal = secret::seal(space.repository().layout(), &text)?;
    Ok(format!("{seal}.{}", hex(&text)))
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
    let (seal, text) = ticket.split_at_checked(SEAL_CHARS).ok_or_else(foreign)?;
    let text = text.strip_prefix('.').and_then(of_hex).ok_or_else(foreign)?;
    if !secret::is_sealed(space.repository().layout(), &text, seal)? {
        return Err(foreign());
    }
    let value = json::from_text(&text).map_err(|_| foreign())?;
    if value.get("principal").and_then(Value::as_text) != Some(principal) {
        return Err(refused(&format!("it was made for somebody else than `{principal}`")));
    }
    let until = value.get("until").and_then(Value::as_int).unwrap_or_default();
    if until <= space.now().millis() {
        return Err(refused("it is older than an hour"));
    }
    let texts = |key: &str| {
        let map = value.get(key).and_then(Value::as_map).into_iter().flatten();
        let text = |(request, text): (&String, &Value)| {
            text.as_text().map(|text| (request.clone(), text.to_owned()))
        };
        map.filter_map(text).collect()
    };
    let (chains, shown) = (texts("requests"), texts("shown"));
    Ok(Ticket { chains, shown, text, until: Instant::from_millis(until) })
}

/// Writes a text in characters that need no quoting anywhere.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads what was written so: no digit has two spellings.
fn of_hex(digits: &str) -> Option<String> {
    if digits.bytes().any(|digit| digit.is_ascii_uppercase()) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

impl Ticket {
    /// Returns the hash of the text that a request was shown as, and when; nothing, where that is not known.
    pub fn shown(&self, request: &str) -> Option<(String, Instant)> {
        let shown = self.shown.get(request)?.clone();
        Some((shown, self.until.plus_millis(-LIFETIME_MILLIS)))
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
