//! Stamps: the commits that name the behaviour that made them, and whether their own line says so, too.
//!
//! A trailer is a claim. Whether records of a session bear one out is for those to tell who read them.

use std::rc::Rc;
use std::sync::Arc;

use agentic_model::{Cid, Oid};

use super::SpaceFacts;
use super::cache::{PackedReader, PackedWriter};
use super::derived::{LineDerivation, OlderContent, line_key};
use super::line::CommitLine;
use super::roster::{AgentPlace, FactAgent};
use crate::Result;
use crate::pin::LinePin;
use crate::signing::SigningChoice;

/// A commit that names a behaviour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampedCommit {
    /// The commit.
    pub oid: Oid,
    /// The behaviour that it names.
    pub behaviour: Cid,
    /// The session that it says asked for it.
    pub session: Option<String>,
    /// Whether its agent had that behaviour then, as its own line says.
    pub is_pinned: bool,
}

/// The commits of one agent of this space that name behaviours.
#[derive(Debug)]
pub struct AgentStamps {
    /// The agent.
    pub agent: String,
    /// The commits, oldest first; or why they cannot be read.
    pub commits: std::result::Result<Vec<StampedCommit>, String>,
}

impl SpaceFacts<'_> {
    /// Lists the commits of agents of this space that name behaviours.
    ///
    /// # Errors
    /// Fails when refs cannot be read.
    pub fn stamps(&self) -> Result<Vec<AgentStamps>> {
        let agents: Vec<Rc<FactAgent>> = self
            .all_here()?
            .into_iter()
            .filter(|agent| agent.place != AgentPlace::Remote)
            .collect();
        let (space, signing) = (self.space, SigningChoice::of_people(self.space)?);
        let how = LineDerivation {
            what: "stamps of commits",
            cache: &self.caches.stamps,
            key: &|agent| line_key(agent.head, signing),
            make: &|agent, line, older| {
                let pin = LinePin { space, signing, agent: &agent.agent, pin: None };
                read_stamps(line, pin, older)
            },
        };
        let contents = self.derived_of_lines(&agents, &how);
        let decoded = |bytes: Arc<[u8]>| {
            decode(&bytes).map(|(_, commits)| commits).ok_or_else(|| "they are damaged".to_owned())
        };
        Ok(agents
            .iter()
            .zip(contents)
            .map(|(agent, content)| AgentStamps {
                agent: agent.name.clone(),
                commits: content.and_then(decoded),
            })
            .collect())
    }
}

fn read_stamps(
    line: &CommitLine,
    mut pin: LinePin<'_>,
    older: Option<OlderContent<'_>>,
) -> Result<Vec<u8>> {
    let known =
        older.and_then(|older| Some((older.head_under(pin.signing)?, decode(older.content)?)));
    let new = line.after(known.as_ref().map(|it| it.0));
    let known = known.filter(|_| new.below.is_some()).map(|it| it.1);
    let (known_pin, mut stamped) = known.unwrap_or_default();
    pin.pin = known_pin;
    for commit in new.oldest_first {
        let claims = commit.claims();
        pin.take(commit.oid, &claims)?;
        let Some(behaviour) = claims.behaviour else { continue };
        let is_pinned = claims.session.is_none() && pin.pin == Some(behaviour);
        stamped.push(StampedCommit {
            oid: commit.oid,
            behaviour,
            session: claims.session,
            is_pinned,
        });
    }
    Ok(encode(pin.pin, &stamped))
}

fn encode(pin: Option<Cid>, stamped: &[StampedCommit]) -> Vec<u8> {
    let mut out = PackedWriter::default();
    out.bytes(pin.map_or_else(String::new, |cid| cid.to_string()).as_bytes());
    for one in stamped {
        out.bytes(one.oid.as_bytes());
        out.bytes(one.behaviour.to_string().as_bytes());
        out.bytes(one.session.as_deref().unwrap_or_default().as_bytes());
        out.number(i64::from(one.is_pinned));
    }
    out.into_bytes()
}

fn decode(bytes: &[u8]) -> Option<(Option<Cid>, Vec<StampedCommit>)> {
    let mut reader = PackedReader::new(bytes);
    let pin = Cid::parse(reader.text()?).ok();
    let mut stamped = Vec::new();
    while !reader.is_at_end() {
        let oid = reader.oid()?;
        let behaviour = Cid::parse(reader.text()?).ok()?;
        let session = Some(reader.text()?.to_owned()).filter(|session| !session.is_empty());
        stamped.push(StampedCommit { oid, behaviour, session, is_pinned: reader.number()? != 0 });
    }
    Some((pin, stamped))
}
