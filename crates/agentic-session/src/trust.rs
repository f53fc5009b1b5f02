//! Which of the commits that look like decisions count.
//!
//! A decision counts because its record is in the agent's journal here, because the session has
//! noted it as a vote, or because it is signed by a key that git's configuration names for the
//! person who it says decided (`agentic.deciders`, values `user:NAME SSH-KEY`) and that person
//! could have decided so. That is the only way for decisions that arrive by push. Everything else
//! is shown, and decides nothing.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Instant, Oid, Value};
use agentic_replay::{Body, OpenHold, Path, RecordChain, RequestId, SessionId, StartRecord};
use agentic_store::Stream;
use agentic_store::journal::{self, GitObject};

use crate::admission::check;
use crate::decision::Decision;
use crate::draft::DecisionDraft;
use crate::policy::Policy;
pub use crate::verified::Look;
use crate::verified::SignatureSight;
use crate::{Result, SessionSpace};
use crate::{own, summary};

/// The setting that names who may decide by push, and with which keys.
const DECIDERS: &str = "agentic.deciders";
/// After how many commits of a branch one more is looked at of what it was when a hold was put
/// before people.
const COMMITS_PER_LOOK: usize = 4;

/// The commits that say they decide one request, oldest first.
#[derive(Debug, Default)]
pub struct DecidingCommits {
    /// Those that count.
    pub counted: Vec<(Oid, Decision)>,
    /// Those that do not.
    pub unverified: Vec<(Oid, Decision)>,
    /// Those whose signatures must be looked at first, when no lock is held.
    pub unseen: Vec<(Oid, Decision)>,
}

/// Finds the commits that say they decide a request of a journal.
///
/// # Errors
/// Fails when history or the journal cannot be read.
pub fn find(
    space: &SessionSpace,
    journal: &RecordChain,
    id: &RequestId,
    look: Look,
) -> Result<DecidingCommits> {
    let (mut found, start) = (DecidingCommits::default(), journal.start());
    let Ok(head) = space.head(&start.agent) else { return Ok(found) };
    let claimed = claimed(space, journal, id, head)?;
    if claimed.is_empty() {
        return Ok(found);
    }
    let used = used(journal, start, id);
    let claims: BTreeSet<Oid> = claimed.iter().map(|(commit, _)| *commit).collect();
    let stream = Stream::Agent(start.agent.clone());
    let recorded = journal::decided(space.repository().layout(), &stream, &claims)?;
    for (commit, objects) in &recorded {
        check_record(space, *commit, objects.as_deref())?;
    }
    let mut recorded: BTreeSet<Oid> = recorded.into_keys().collect();
    if !claims.is_subset(&recorded) {
        recorded.extend(noted(space, journal)?);
    }
    for (commit, decision) in claimed {
        if used.contains(&commit) {
            continue;
        }
        if recorded.contains(&commit) {
            found.counted.push((commit, decision));
            continue;
        }
        let list = match signed(space, journal, id, commit, &decision, look)? {
            DecisionSignature::Yes(decision) => {
                found.counted.push((commit, *decision));
                continue;
            }
            DecisionSignature::No => &mut found.unverified,
            DecisionSignature::Unseen => &mut found.unseen,
        };
        list.push((commit, decision));
    }
    Ok(found)
}

/// Tells whether records here say that a commit of an agent is a decision: the journal of the agent,
/// or those of the session that the commit names.
///
/// # Errors
/// Fails when the journal of the agent is damaged. Records of a session that cannot be read say
/// nothing.
pub fn is_recorded(
    space: &SessionSpace,
    agent: &AgentName,
    commit: Oid,
    claims: &Claims,
) -> Result<bool> {
    let stream = Stream::Agent(agent.clone());
    let wanted = BTreeSet::from([commit]);
    if journal::decided(space.repository().layout(), &stream, &wanted)?.contains_key(&commit) {
        return Ok(true);
    }
    let session = claims.session.as_deref().and_then(SessionId::parse);
    let Some(Ok(journal)) = session.map(|id| own::read_journal(space, &id)) else {
        return Ok(false);
    };
    let commit = commit.to_string();
    Ok(journal.records().iter().any(|record| record.body.decision() == Some(commit.as_str())))
}

/// Checks that the record of a decision holds the commit that it names: then the record and the
/// commit that was hashed say the same. A record that was cut away says only that it was one.
fn check_record(space: &SessionSpace, commit: Oid, objects: Option<&[GitObject]>) -> Result<()> {
    let Some(objects) = objects else { return Ok(()) };
    if objects.iter().any(|object| space.repository().name_object(object) == commit) {
        return Ok(());
    }
    let what = format!("the record of decision {commit}");
    Err(agentic_store::Error::corrupt(what, "it does not hold that commit").into())
}

/// Finds the head of the branch on which a hold was put before people last.
fn published(journal: &RecordChain, start: &StartRecord, id: &RequestId) -> Option<Oid> {
    let session = start.session.to_string();
    let mut heads: BTreeMap<&Path, &str> = BTreeMap::new();
    for record in journal.records().iter().rev() {
        if let Body::Publish(publish) = &record.body {
            heads.entry(&publish.path).or_insert(&publish.head);
        } else if let Some(ask) = record.body.as_ask()
            && let Some(head) = heads.get(&ask.path)
            && RequestId::derive(&session, &ask.path, &ask.hash) == *id
        {
            return Oid::parse(head).ok();
        } else if let Body::Start(_) = record.body {
            // What a fork shares was asked under other ids.
            return None;
        }
    }
    None
}

/// Lists what looks like a decision of the request on a branch with this head since it was put before
/// people; since the session began where that is not known.
///
/// # Errors
/// Fails when history cannot be read.
pub(crate) fn claimed(
    space: &SessionSpace,
    journal: &RecordChain,
    id: &RequestId,
    head: Oid,
) -> Result<Vec<(Oid, Decision)>> {
    let start = journal.start();
    let mut line = CommonLine::new(space, published(journal, start, id));
    let mut claimed = Vec::new();
    let mut next = Some(head);
    while let Some(oid) = next {
        if start.head.as_deref() == Some(oid.to_string().as_str()) || line.has(oid)? {
            break;
        }
        let commit = space.deciding().commit(space, oid)?;
        let decision = commit.decision.as_ref().filter(|decision| decision.request == *id);
        claimed.extend(decision.map(|decision| (oid, decision.clone())));
        next = commit.parent;
    }
    claimed.retain(|(oid, _)| !line.is_below(oid));
    claimed.reverse();
    Ok(claimed)
}

/// The line of the branch as it was when a hold was put before people, and that of today, down to
/// where they meet.
struct CommonLine<'a> {
    space: &'a SessionSpace,
    /// What is known of the line of then.
    then: BTreeSet<Oid>,
    /// Where that goes on.
    next: Option<Oid>,
    /// What was seen of the line of today, in order.
    today: Vec<Oid>,
    /// How much of the line of today stands above the place where they meet, once that is known.
    n_above: Option<usize>,
}

impl CommonLine<'_> {
    fn new(space: &SessionSpace, published: Option<Oid>) -> CommonLine<'_> {
        let then = published.into_iter().collect();
        CommonLine { space, then, next: published, today: Vec::new(), n_above: None }
    }

    /// Takes in the next commit of the line of today, and tells whether the lines have met.
    fn has(&mut self, oid: Oid) -> Result<bool> {
        if self.then.contains(&oid) {
            return Ok(true);
        }
        self.today.push(oid);
        // The lines mostly meet in the head of then; only where today's is long already, or has left
        // that, is it worth looking for where else.
        if self.today.len().is_multiple_of(COMMITS_PER_LOOK)
            && let Some(next) = self.next
        {
            let commit = self.space.deciding().commit(self.space, next);
            self.next = commit.ok().and_then(|commit| commit.parent);
            self.then.extend(self.next);
            self.n_above = self.next.and_then(|it| self.today.iter().position(|oid| *oid == it));
        }
        Ok(self.n_above.is_some())
    }

    /// Tells whether a commit of the line of today stands where the lines have met, or below.
    fn is_below(&self, oid: &Oid) -> bool {
        self.n_above.is_some_and(|n_above| self.today[n_above..].contains(oid))
    }
}

/// Lists the decisions of a request that have let its effect begin. A decision counts once: an
/// effect that a crash then caught is a new question.
fn used(journal: &RecordChain, start: &StartRecord, id: &RequestId) -> BTreeSet<Oid> {
    let mut session = start.session.to_string();
    let mut path = None;
    let mut used = BTreeSet::new();
    if !journal.records().iter().any(|record| matches!(record.body, Body::Permit(_))) {
        return used;
    }
    for record in journal.records() {
        if let Body::Start(start) = &record.body {
            session = start.session.to_string();
        } else if let Body::Ask(ask) = &record.body
            && RequestId::derive(&session, &ask.path, &ask.hash) == *id
        {
            path = Some(ask.path.clone());
        } else if let Body::Permit(permit) = &record.body
            && Some(&permit.path) == path.as_ref()
        {
            used.extend(Oid::parse(&permit.decision).ok());
        }
    }
    used
}

/// Lists the commits that the session has noted as votes.
fn noted(space: &SessionSpace, journal: &RecordChain) -> Result<BTreeSet<Oid>> {
    let holds = summary::holds(space, journal)?;
    let votes = holds.iter().flat_map(|hold| &hold.votes);
    Ok(votes.filter_map(|vote| Oid::parse(&vote.decision).ok()).collect())
}

/// What a signature makes of a decision.
enum DecisionSignature {
    /// It counts, as its signer signed it.
    Yes(Box<Decision>),
    No,
    Unseen,
}

/// Tells whether a commit is signed by the person who it says decided, and that person could have
/// decided so.
fn signed(
    space: &SessionSpace,
    journal: &RecordChain,
    id: &RequestId,
    commit: Oid,
    claim: &Decision,
    look: Look,
) -> Result<DecisionSignature> {
    let keys = keys_of(space, &claim.principal)?;
    if keys.is_empty() {
        return Ok(DecisionSignature::No);
    }
    let message = match space.verified().message(space.repository(), commit, keys, look)? {
        SignatureSight::Signed(message) => message,
        SignatureSight::NotSigned => return Ok(DecisionSignature::No),
        SignatureSight::Nothing => return Ok(DecisionSignature::Unseen),
    };
    // What counts is what was signed, not what another tool shows in its place.
    let Some(decision) = Decision::read(space, &message) else { return Ok(DecisionSignature::No) };
    let holds = summary::holds_at_rest(space, journal)?;
    let hold = holds.into_iter().find(|hold| hold.id == *id);
    let may = hold.is_some_and(|hold| decision.request == *id && may(space, &hold, &decision));
    let counts = may && decision.principal == claim.principal;
    Ok(if counts { DecisionSignature::Yes(Box::new(decision)) } else { DecisionSignature::No })
}

/// Tells whether a commit that decides a request of a journal counts by its signature.
///
/// # Errors
/// Fails when the configuration or the records cannot be read.
pub(crate) fn is_signed(
    space: &SessionSpace,
    journal: &RecordChain,
    commit: Oid,
    claim: &Decision,
) -> Result<bool> {
    let found = signed(space, journal, &claim.request, commit, claim, Look::Free)?;
    Ok(matches!(found, DecisionSignature::Yes(_)))
}

/// Tells whether anybody is named whose decisions count from elsewhere.
///
/// # Errors
/// Fails when the configuration cannot be read.
pub(crate) fn has_deciders(space: &SessionSpace) -> Result<bool> {
    let settings = space.repository().git(&["config", "--get-all", DECIDERS])?;
    Ok(!settings.stdout.trim().is_empty())
}

/// Lists the keys by which a person may decide from elsewhere.
fn keys_of(space: &SessionSpace, principal: &str) -> Result<Vec<String>> {
    let settings = space.repository().git(&["config", "--get-all", DECIDERS])?.stdout;
    let named = settings.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    let keys = named.filter(|(name, _)| *name == principal);
    Ok(keys.map(|(_, key)| key.trim().to_owned()).collect())
}

/// A key that signed a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonKey {
    /// As the configuration names it.
    pub named: String,
    /// `SHA256:` and its hash.
    pub fingerprint: String,
}

/// Returns the key by which a person signed a text, if it is one of theirs.
///
/// # Errors
/// Fails when the configuration cannot be read, and when nothing verifies signatures here.
pub fn text_signed_by(
    space: &SessionSpace,
    principal: &str,
    text: &str,
    namespace: &str,
    signature: &str,
) -> Result<Option<PersonKey>> {
    for named in keys_of(space, principal)? {
        let keys = std::slice::from_ref(&named);
        let found = space.repository().text_signed_by(text, namespace, signature, keys)?;
        if let Some(fingerprint) = found {
            return Ok(Some(PersonKey { named, fingerprint }));
        }
    }
    Ok(None)
}

/// Tells whether a key is one by which a person may decide.
///
/// # Errors
/// Fails when the configuration cannot be read.
pub fn has_key(space: &SessionSpace, principal: &str, named: &str) -> Result<bool> {
    Ok(keys_of(space, principal)?.iter().any(|key| key == named))
}

/// Tells whether decisions of a person count only with the signature of a key.
///
/// # Errors
/// Fails when the configuration cannot be read.
pub fn wants_key(space: &SessionSpace, principal: &str) -> Result<bool> {
    Ok(!keys_of(space, principal)?.is_empty())
}

/// Tells whether the person could have made this decision when they say that they made it.
fn may(space: &SessionSpace, hold: &OpenHold, decision: &Decision) -> bool {
    let decided_at = decision.decided_at().and_then(Instant::parse);
    let Some(decided_at) = decided_at else { return false };
    let policy = Policy::of_hold(hold, decided_at.min(space.now()));
    // Who decides for somebody else was given that right here, which no push can show.
    decision.grant().is_none()
        && !policy.is_overdue(decided_at)
        && misfit(space, hold, decision, &policy).is_none()
}

/// Says what keeps a decision from answering a hold: it is about another question, or the person whose voice
/// it is may not give that answer. When it was made is not looked at.
pub(crate) fn misfit(
    space: &SessionSpace,
    hold: &OpenHold,
    decision: &Decision,
    policy: &Policy,
) -> Option<String> {
    let text = |key: &str| decision.record.get(key).and_then(Value::as_text);
    let Some(scope) = decision.scope() else {
        return Some("it counts for as long as nobody here knows".to_owned());
    };
    if text("reason") != Some(hold.reason.name()) || !decision.answers(hold) {
        return Some("it answers another question".to_owned());
    }
    let draft = DecisionDraft {
        action: decision.action,
        value: decision.value.clone(),
        scope,
        rationale: String::new(),
        expect: Some(text("request_hash").unwrap_or_default().to_owned()),
        principal: decision.person().to_owned(),
        client: "push",
        authn: None,
        shown: None,
        accepts: None,
    };
    check(space, hold, policy, &draft).err().map(|error| error.to_string())
}
