//! Records as maps, and back.
//!
//! A record has exactly the fields that its kind has: one more or one of another type, and it is
//! refused. So every record has one byte form, and its hash covers all of it.

use agentic_model::canonical::{CanonicalError, EntryPart};
use agentic_model::{AgentName, Value, canonical};

use super::{
    AnswerRecord, AnswerSource, AskRecord, AttemptRecord, Body, CancelMode, CancelRecord,
    ContinueRecord, Engine, EscalateRecord, ForkPoint, FoundRecord, Outcome, PermitRecord,
    PermitScope, PublishRecord, Record, ScopeEndRecord, SignalRecord, StartRecord, UpgradeRecord,
    VoteRecord, Why, WithdrawRecord,
};
use crate::{
    CancelExtent, EffectClass, Handling, ProgramPosition, RecordHash, RequestHash, Seed, SessionId,
};

mod fields;

use crate::record::codec::fields::{MapReader, MapWriter, choose, int, invalid};

/// The version of all records.
const VERSION: i64 = 1;
/// The word for a permission that counts for later requests too.
const REST_OF_SESSION: &str = "rest-of-session";

/// A map that is not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the field `{field}` of a record is missing, superfluous or malformed")]
pub struct InvalidRecord {
    /// The field.
    pub field: String,
}

/// Bytes that are no record.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableRecord {
    /// They are no map in its canonical form.
    #[error(transparent)]
    Encoding(#[from] CanonicalError),
    /// The map is no record.
    #[error(transparent)]
    Fields(#[from] InvalidRecord),
}

impl Record {
    /// Returns the entries of the record's map.
    pub fn to_entries(&self) -> Vec<(&'static str, Value)> {
        let mut out = MapWriter::default();
        out.int("v", VERSION);
        out.int("seq", int(self.seq));
        out.bytes("prev", self.prev.as_bytes());
        out.int("at", self.at.millis());
        write_body(&self.body, &mut out);
        out.0
    }

    /// Turns the record into its map.
    pub fn to_value(&self) -> Value {
        Value::map(self.to_entries())
    }

    /// Reads a record from its bytes.
    ///
    /// # Errors
    /// Fails when they are no canonical map, and as [`Record::from_entries`] does.
    pub fn from_bytes(bytes: &[u8]) -> Result<Record, UnreadableRecord> {
        Ok(Record::from_entries(canonical::decode_entries(bytes)?)?)
    }

    /// Reads a record from the entries of its map.
    ///
    /// # Errors
    /// Fails when a field is missing, superfluous or of another type.
    pub fn from_entries(entries: Vec<(&str, EntryPart<'_>)>) -> Result<Record, InvalidRecord> {
        let mut fields = MapReader(entries);
        if fields.int("v")? != VERSION {
            return Err(invalid("v"));
        }
        let record = Record {
            seq: fields.count("seq")?,
            prev: RecordHash::from_bytes(fields.hash("prev")?),
            at: fields.instant("at")?,
            body: read_body(&mut fields)?,
        };
        match fields.0.first() {
            None => Ok(record),
            Some((field, _)) => Err(invalid(field)),
        }
    }
}

fn write_body(body: &Body, out: &mut MapWriter) {
    match body {
        Body::Start(start) => write_start(start, out),
        Body::Ask(ask) => write_ask(ask, out),
        Body::Answer(answer) => {
            out.kind("answer").path(&answer.path);
            write_outcome(&answer.outcome, out);
            let (by, who) = by_words(&answer.by);
            out.text("by", by);
            out.text_if("who", who.as_deref());
            out.int("attempt", i64::from(answer.attempt));
        }
        Body::Attempt(attempt) => {
            out.kind("attempt").path(&attempt.path).int("n", i64::from(attempt.n));
            out.text("error", &attempt.error).instant_if("next_at", attempt.next_at);
        }
        Body::Found(found) => {
            out.kind("found").path(&found.path).stored("found", &found.found);
        }
        Body::Signal(signal) => {
            out.kind("signal").text("id", &signal.id).text("name", &signal.name);
            out.stored("value", &signal.value);
        }
        Body::Escalate(escalate) => {
            out.kind("escalate").path(&escalate.path).texts("to", &escalate.to);
            out.text("why", &escalate.why);
        }
        Body::Vote(vote) => {
            out.kind("vote").path(&vote.path).text("decision", &vote.decision);
            out.text("principal", &vote.principal).text("action", &vote.action);
        }
        Body::Publish(publish) => {
            out.kind("publish").path(&publish.path).text("head", &publish.head);
        }
        Body::Permit(permit) => {
            out.kind("permit").path(&permit.path).text("decision", &permit.decision);
            out.stored_if("edited", permit.edited.as_ref());
            write_scope(permit.scope, out);
        }
        Body::Upgrade(upgrade) => {
            out.kind("upgrade").link("from", upgrade.from).link("to", upgrade.to);
            out.int("verified", int(upgrade.verified));
        }
        Body::Withdraw(withdraw) => {
            out.kind("withdraw").path(&withdraw.path).text("why", why_word(withdraw.why));
        }
        Body::Cancel(cancel) => {
            out.kind("cancel").text("who", &cancel.who).text("why", &cancel.why);
            out.text("mode", mode_word(cancel.mode));
        }
        Body::ScopeEnd(scope) => {
            out.kind("scope_end").path(&scope.path).int("from", int(scope.from));
            out.int("to", int(scope.to)).bytes("hash", scope.hash.as_bytes());
            out.stored("result", &scope.result);
        }
        Body::Continue(next) => {
            out.kind("continue").stored("state", &next.state).link("flow", next.flow);
        }
        Body::End(outcome) => {
            out.kind("end");
            write_outcome(outcome, out);
        }
    }
}

fn read_body(fields: &mut MapReader<'_>) -> Result<Body, InvalidRecord> {
    Ok(match fields.word("kind")? {
        "start" => Body::Start(Box::new(read_start(fields)?)),
        "signal" => Body::Signal(SignalRecord {
            id: fields.text("id")?,
            name: fields.text("name")?,
            value: fields.stored("value")?,
        }),
        "upgrade" => Body::Upgrade(UpgradeRecord {
            from: fields.link("from")?,
            to: fields.link("to")?,
            verified: fields.count("verified")?,
        }),
        "cancel" => Body::Cancel(CancelRecord {
            who: fields.text("who")?,
            why: fields.text("why")?,
            mode: choose(fields, "mode", &[CancelMode::Cooperative, CancelMode::Kill], |mode| {
                mode_word(*mode)
            })?,
        }),
        "continue" => Body::Continue(ContinueRecord {
            state: fields.stored("state")?,
            flow: fields.link("flow")?,
        }),
        "end" => Body::End(read_outcome(fields)?),
        kind => return read_step(kind, fields),
    })
}

/// Reads what happened at one path of the program.
fn read_step(kind: &str, fields: &mut MapReader<'_>) -> Result<Body, InvalidRecord> {
    Ok(match kind {
        "ask" => Body::Ask(Box::new(read_ask(fields)?)),
        "answer" => Body::Answer(AnswerRecord {
            path: fields.path()?,
            outcome: read_outcome(fields)?,
            by: read_by(fields)?,
            attempt: fields.small("attempt")?,
        }),
        "attempt" => Body::Attempt(AttemptRecord {
            path: fields.path()?,
            n: fields.small("n")?,
            error: fields.text("error")?,
            next_at: fields.instant_if("next_at")?,
        }),
        "found" => {
            Body::Found(FoundRecord { path: fields.path()?, found: fields.stored("found")? })
        }
        "escalate" => Body::Escalate(EscalateRecord {
            path: fields.path()?,
            to: fields.texts("to")?,
            why: fields.text("why")?,
        }),
        "vote" => Body::Vote(VoteRecord {
            path: fields.path()?,
            decision: fields.text("decision")?,
            principal: fields.text("principal")?,
            action: fields.text("action")?,
        }),
        "publish" => {
            Body::Publish(PublishRecord { path: fields.path()?, head: fields.text("head")? })
        }
        "permit" => Body::Permit(PermitRecord {
            path: fields.path()?,
            decision: fields.text("decision")?,
            edited: fields.stored_if("edited")?,
            scope: read_scope(fields)?,
        }),
        "withdraw" => Body::Withdraw(WithdrawRecord {
            path: fields.path()?,
            why: choose(fields, "why", &[Why::Dropped, Why::Ended], |why| why_word(*why))?,
        }),
        "scope_end" => Body::ScopeEnd(ScopeEndRecord {
            path: fields.path()?,
            from: fields.count("from")?,
            to: fields.count("to")?,
            hash: RecordHash::from_bytes(fields.hash("hash")?),
            result: fields.stored("result")?,
        }),
        _ => return Err(invalid("kind")),
    })
}

fn write_scope(scope: PermitScope, out: &mut MapWriter) {
    match scope {
        PermitScope::Once => {}
        PermitScope::RestOfSession => _ = out.text("scope", REST_OF_SESSION),
        PermitScope::Under(seq) => _ = out.int("under", int(seq)),
    }
}

/// Reads for how long a permission counts. Records of before have neither field.
fn read_scope(fields: &mut MapReader<'_>) -> Result<PermitScope, InvalidRecord> {
    if fields.has("under") {
        return Ok(PermitScope::Under(fields.count("under")?));
    }
    match fields.text_if("scope")?.as_deref() {
        None => Ok(PermitScope::Once),
        Some(REST_OF_SESSION) => Ok(PermitScope::RestOfSession),
        Some(_) => Err(invalid("scope")),
    }
}

fn write_start(start: &StartRecord, out: &mut MapWriter) {
    out.kind("start").bytes("session", start.session.as_bytes());
    out.text("agent", start.agent.as_str()).link("flow", start.flow);
    out.text("language", &start.engine.language);
    out.int("semantics", i64::from(start.engine.semantics));
    out.stored("input", &start.input).bytes("seed", &start.seed.0).text("key", &start.key);
    out.texts("allow", &start.allow).text_if("head", start.head.as_deref());
    if let Some(configuration) = start.configuration {
        out.link("configuration", configuration);
    }
    out.text_if("host", start.host.as_deref());
    if start.stamp {
        out.int("stamp", 1);
    }
    if let Some(parent) = &start.parent {
        out.bytes("parent", parent.session.as_bytes()).int("parent_seq", int(parent.seq));
        out.bytes("parent_hash", parent.hash.as_bytes());
    }
}

fn read_start(fields: &mut MapReader<'_>) -> Result<StartRecord, InvalidRecord> {
    Ok(StartRecord {
        session: SessionId::from_bytes(fields.hash("session")?),
        agent: AgentName::parse(fields.word("agent")?).map_err(|_| invalid("agent"))?,
        flow: fields.link("flow")?,
        engine: Engine {
            language: fields.text("language")?,
            semantics: fields.small("semantics")?,
        },
        input: fields.stored("input")?,
        seed: Seed(fields.hash("seed")?),
        key: fields.text("key")?,
        allow: fields.texts("allow")?,
        head: fields.text_if("head")?,
        // Records of before have none.
        configuration: match fields.has("configuration") {
            false => None,
            true => Some(fields.link("configuration")?),
        },
        host: fields.text_if("host")?,
        stamp: fields.has("stamp") && fields.count("stamp")? > 0,
        parent: match fields.has("parent") {
            false => None,
            true => Some(ForkPoint {
                session: SessionId::from_bytes(fields.hash("parent")?),
                seq: fields.count("parent_seq")?,
                hash: RecordHash::from_bytes(fields.hash("parent_hash")?),
            }),
        },
    })
}

fn write_ask(ask: &AskRecord, out: &mut MapWriter) {
    out.kind("ask").path(&ask.path).text("request", &ask.kind);
    out.bytes("hash", ask.hash.as_bytes()).stored("payload", &ask.payload);
    if let Some(schema) = ask.schema {
        out.link("schema", schema);
    }
    out.text("handling", ask.handling.name());
    if let Some(timeout_ms) = ask.timeout_ms {
        out.int("timeout_ms", int(timeout_ms));
    }
    if let Some(position) = ask.position {
        out.int("line", i64::from(position.line)).int("column", i64::from(position.column));
    }
}

fn read_ask(fields: &mut MapReader<'_>) -> Result<AskRecord, InvalidRecord> {
    let handlings = [
        Handling::Effect(EffectClass::Pure),
        Handling::Effect(EffectClass::Read),
        Handling::Effect(EffectClass::Idempotent),
        Handling::Effect(EffectClass::Once),
        Handling::Decision,
        Handling::Timer,
    ];
    Ok(AskRecord {
        path: fields.path()?,
        kind: fields.text("request")?,
        hash: RequestHash::from_bytes(fields.hash("hash")?),
        payload: fields.stored("payload")?,
        schema: if fields.has("schema") { Some(fields.link("schema")?) } else { None },
        handling: choose(fields, "handling", &handlings, |handling| handling.name())?,
        timeout_ms: if fields.has("timeout_ms") { Some(fields.count("timeout_ms")?) } else { None },
        position: match fields.has("line") {
            false => None,
            true => Some(ProgramPosition {
                line: fields.small("line")?,
                column: fields.small("column")?,
            }),
        },
    })
}

fn write_outcome(outcome: &Outcome, out: &mut MapWriter) {
    match outcome {
        Outcome::Ok(value) => {
            out.text("outcome", "ok").stored("value", value);
        }
        Outcome::Failed { code, message, details } => {
            out.text("outcome", "err").text("code", code).text("message", message);
            out.stored("details", details);
        }
        Outcome::TimedOut => {
            out.text("outcome", "timeout");
        }
        Outcome::Cancelled(stopped) => {
            out.text("outcome", "cancelled").text("stopped", stopped_word(*stopped));
        }
    }
}

fn read_outcome(fields: &mut MapReader<'_>) -> Result<Outcome, InvalidRecord> {
    let stopped = [CancelExtent::NotStarted, CancelExtent::Stopped, CancelExtent::Unknown];
    Ok(match fields.word("outcome")? {
        "ok" => Outcome::Ok(fields.stored("value")?),
        "err" => Outcome::Failed {
            code: fields.text("code")?,
            message: fields.text("message")?,
            details: fields.stored("details")?,
        },
        "timeout" => Outcome::TimedOut,
        "cancelled" => {
            Outcome::Cancelled(choose(fields, "stopped", &stopped, |word| stopped_word(*word))?)
        }
        _ => return Err(invalid("outcome")),
    })
}

fn by_words(by: &AnswerSource) -> (&'static str, Option<String>) {
    match by {
        AnswerSource::Executor => ("executor", None),
        AnswerSource::Decision(commit) => ("decision", Some(commit.clone())),
        AnswerSource::Timer => ("timer", None),
        AnswerSource::Child(session) => ("child", Some(session.to_string())),
        AnswerSource::Edited(principal) => ("edited", Some(principal.clone())),
        AnswerSource::Signal(seq) => ("signal", Some(seq.to_string())),
        AnswerSource::System(name) => ("system", Some(name.clone())),
    }
}

fn read_by(fields: &mut MapReader<'_>) -> Result<AnswerSource, InvalidRecord> {
    Ok(match fields.word("by")? {
        "executor" => AnswerSource::Executor,
        "timer" => AnswerSource::Timer,
        "decision" => AnswerSource::Decision(fields.text("who")?),
        "child" => AnswerSource::Child(
            SessionId::parse(fields.word("who")?).ok_or_else(|| invalid("who"))?,
        ),
        "edited" => AnswerSource::Edited(fields.text("who")?),
        "signal" => AnswerSource::Signal(position(fields.word("who")?)?),
        "system" => AnswerSource::System(fields.text("who")?),
        _ => return Err(invalid("by")),
    })
}

/// Reads a position in its one spelling.
fn position(text: &str) -> Result<u64, InvalidRecord> {
    let seq = text.parse::<u64>().ok().filter(|seq| seq.to_string() == text);
    seq.ok_or_else(|| invalid("who"))
}

fn stopped_word(stopped: CancelExtent) -> &'static str {
    match stopped {
        CancelExtent::NotStarted => "not_started",
        CancelExtent::Stopped => "stopped",
        CancelExtent::Unknown => "unknown",
    }
}

fn why_word(why: Why) -> &'static str {
    match why {
        Why::Dropped => "dropped",
        Why::Ended => "ended",
    }
}

fn mode_word(mode: CancelMode) -> &'static str {
    match mode {
        CancelMode::Cooperative => "cooperative",
        CancelMode::Kill => "kill",
    }
}
