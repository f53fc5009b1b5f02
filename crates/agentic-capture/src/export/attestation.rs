//! Statements of in-toto about commits, in an envelope of DSSE where a key signs.
//!
//! The signature is one of SSH (`ssh-keygen -Y verify -n agentic-export`) over what DSSE says is
//! signed; `sig` is its armoured form, as bytes in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map as JsonMap, Value as Json, json};

use agentic_space::signing::SigningChoice;

use super::agent_trace::briefing;
use super::commit::ProvedCommit;
use super::{ExportError, ExportWork};

/// What sort of statement it is, by in-toto.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// What sort of predicate, by us.
const PREDICATE: &str = "urn:agentic:predicate:agent-commit:v1";
/// What an envelope holds.
const PAYLOAD: &str = "application/vnd.in-toto+json";
/// What is signed for, so that it is nothing else.
const NAMESPACE: &str = "agentic-export";
/// How a use of a decision stands in a trace.
const HOLD_USED: &str = "hold used ";

/// Writes the statement of a commit, in an envelope if `agentic.sign` is set.
pub(super) fn statement(
    work: &ExportWork<'_>,
    commit: &ProvedCommit,
) -> Result<String, ExportError> {
    let oid = commit.info.oid.to_string();
    let statement = json!({
        "_type": STATEMENT,
        "subject": [{ "name": "git+commit", "digest": { "gitCommit": oid } }],
        "predicateType": PREDICATE,
        "predicate": predicate(work, commit),
    });
    let payload = statement.to_string();
    match SigningChoice::of_people(work.space)? {
        SigningChoice::Plain => Ok(format!("{payload}\n")),
        SigningChoice::Signed => envelope(work, &payload),
    }
}

fn envelope(work: &ExportWork<'_>, payload: &str) -> Result<String, ExportError> {
    let repository = work.space.repository();
    // DSSE 1.0: what sort and how long it is are signed with it.
    let signed = format!("DSSEv1 {} {PAYLOAD} {} {payload}", PAYLOAD.len(), payload.len());
    let signature = repository.sign_text(&signed, NAMESPACE, None);
    let signature = signature.map_err(agentic_space::Error::from)?;
    let name = repository.signer().map_err(agentic_space::Error::from)?.name();
    let keyid = name.split_once(':').map_or(name.as_str(), |(_, key)| key);
    let envelope = json!({
        "payload": STANDARD.encode(payload),
        "payloadType": PAYLOAD,
        "signatures": [{ "keyid": keyid, "sig": STANDARD.encode(signature) }],
    });
    Ok(format!("{envelope}\n"))
}

fn predicate(work: &ExportWork<'_>, commit: &ProvedCommit) -> Json {
    let agents = commit.agents();
    let mut said = JsonMap::new();
    said.insert("agent".to_owned(), one_or_all(agents.iter().map(|name| name.as_str().to_owned())));
    let kind = commit.claims.kind.as_ref().map_or("commit", |kind| kind.as_str());
    said.insert("kind".to_owned(), json!(kind));
    if let Some(briefing) = agents.first().and_then(|agent| briefing(work, agent)) {
        said.insert("briefing".to_owned(), json!(briefing));
    }
    said.insert("trace".to_owned(), one_or_all(commit.cids().iter().map(ToString::to_string)));
    let conversations = commit.conversations();
    if !conversations.is_empty() {
        said.insert("conversation".to_owned(), one_or_all(conversations.into_iter()));
    }
    said.insert("decisions".to_owned(), json!(decisions(work, commit)));
    said.insert("how".to_owned(), json!(commit.origin.proof.as_str()));
    Json::Object(said)
}

fn one_or_all(texts: impl Iterator<Item = String>) -> Json {
    let mut texts: Vec<String> = texts.collect();
    match texts.len() {
        1 => Json::String(texts.remove(0)),
        _ => json!(texts),
    }
}

/// Lists the decisions of people that calls of the trace used: those that are commits here.
fn decisions(work: &ExportWork<'_>, commit: &ProvedCommit) -> Vec<String> {
    let entries = commit.traces.iter().flat_map(|(_, trace)| &trace.entries);
    let named = entries.filter_map(|entry| {
        let is_event = entry.kind.as_str() == "event";
        entry.body.as_text()?.strip_prefix(HOLD_USED).filter(|_| is_event)
    });
    let mut decisions: Vec<String> = Vec::new();
    for name in named {
        let Ok(oid) = work.space.repository().resolve_commit(name) else { continue };
        let oid = oid.to_string();
        if !decisions.contains(&oid) {
            decisions.push(oid);
        }
    }
    decisions
}
