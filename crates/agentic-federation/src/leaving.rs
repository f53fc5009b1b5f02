//! What leaves with an announcement: nothing of private agents, and no secret that nobody let go.
//!
//! It is looked at before anybody signs. Notes and messages are searched by all rules; files of commits only for
//! known values, private keys and secrets of providers, since the others would stop at ordinary code.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{RefMove, Repository};
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Cid, Object, Oid, Value, canonical};
use agentic_redact::{RedactLayer, SecretFinding, SecretRedactor};
use agentic_session::SessionSpace;
use agentic_session::sealed::records_of_segment;
use agentic_store::journal::GitKind;

use crate::accepted::ACCEPTED_REFS;
use crate::durable::{ChainContent, RACES_MAX, mover, next_state, read_state};
use crate::fields::{encode, oid_value};
use crate::folder::{FolderDraft, TreeFolder, read_file};
use crate::shard::HeadChange;
use crate::{Error, Result};

/// The ref that holds what somebody let go. It is never pushed.
pub const LEAVING_REF: &str = "refs/agentic/leaving";
/// Its file: a line for each finding, or for each file and rule.
const ALLOWED: &str = "allowed";
/// The longest such file, in bytes.
const ALLOWED_BYTES_MAX: usize = 16 << 20;

/// What somebody lets go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeavingAllowance {
    /// One finding.
    Finding(Cid),
    /// What a rule finds in files of a path.
    File {
        /// The path.
        path: String,
        /// The rule.
        rule: String,
    },
}

/// By what it is judged what leaves.
#[derive(Clone, Copy)]
pub struct LeavingRules<'a> {
    /// What finds secrets.
    pub redactor: &'a SecretRedactor,
    /// What is let go from now on.
    pub allow: &'a [LeavingAllowance],
    /// The remote, if it goes to one: what came from there is there.
    pub remote: Option<&'a str>,
}

/// What would leave.
pub(crate) struct LeavingTips<'a> {
    /// The announcement before, whose objects have left.
    pub before: Option<Oid>,
    /// The agents that differ.
    pub changes: &'a [HeadChange],
    /// All tips that are new.
    pub tips: &'a BTreeSet<Oid>,
}

/// Where an object that leaves stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeavingPlace {
    /// In the files of a commit.
    File,
    /// In notes, in the registry or in a library.
    Text,
}

impl LeavingAllowance {
    /// Reads `CID` or `PATH:RULE`.
    pub fn parse(text: &str) -> Option<LeavingAllowance> {
        if let Ok(cid) = Cid::parse(text) {
            return Some(LeavingAllowance::Finding(cid));
        }
        let (path, rule) = text.rsplit_once(':')?;
        let is_whole = !path.is_empty() && !rule.is_empty() && !text.contains('\n');
        is_whole.then(|| LeavingAllowance::File { path: path.to_owned(), rule: rule.to_owned() })
    }

    fn to_line(&self) -> String {
        match self {
            LeavingAllowance::Finding(cid) => cid.to_string(),
            LeavingAllowance::File { path, rule } => format!("{path}:{rule}"),
        }
    }
}

/// Refuses what may not leave.
///
/// # Errors
/// Fails, as not allowed, at something of a private agent and at a secret that nobody let go.
pub(crate) fn check_leaving(
    space: &SessionSpace,
    rules: LeavingRules<'_>,
    leaving: &LeavingTips<'_>,
) -> Result<()> {
    let repository = space.repository();
    let allowed = allow(space, rules.allow)?;
    if leaving.tips.is_empty() {
        return Ok(());
    }
    let heads: BTreeSet<Oid> =
        leaving.changes.iter().filter_map(|change| Some(change.new.as_ref()?.head)).collect();
    let (files, texts): (Vec<Oid>, Vec<Oid>) =
        leaving.tips.iter().partition(|tip| heads.contains(*tip));
    let there = known_there(repository, rules.remote, leaving.before)?;
    let mut objects = new_objects(repository, &files, &there, LeavingPlace::File)?;
    objects.extend(new_objects(repository, &texts, &there, LeavingPlace::Text)?);
    refuse_private(space, leaving.changes, &objects)?;
    for (oid, (path, place)) in &objects {
        for finding in findings_in(repository, rules.redactor, *oid, *place)? {
            let cid = finding_cid(*oid, &finding);
            let of_file =
                LeavingAllowance::File { path: path.clone(), rule: finding.rule.to_string() };
            if allowed.contains(&LeavingAllowance::Finding(cid)) || allowed.contains(&of_file) {
                continue;
            }
            return Err(secret(*oid, path, &finding, cid));
        }
    }
    Ok(())
}

fn secret(oid: Oid, path: &str, finding: &SecretFinding, cid: Cid) -> Error {
    let place = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
    let by_file = match path.is_empty() {
        true => String::new(),
        false => format!(", `--allow {path}:{}` those of that file", finding.rule),
    };
    Error::not_allowed(
        format!("the object {oid}{place} has a secret, found by rule `{}`", finding.rule),
        format!(
            "nothing was signed: `agentic purge` takes it out; \
             `agentic announce --allow {cid}` lets this one go{by_file}"
        ),
    )
}

/// Lists what has left already, as far as it is known here: the announcement before, what peers announced, and
/// what came from the remote.
fn known_there(
    repository: &Repository,
    remote: Option<&str>,
    before: Option<Oid>,
) -> Result<Vec<Oid>> {
    let mut there: Vec<Oid> = before.into_iter().collect();
    let mut prefixes = vec![ACCEPTED_REFS.to_owned()];
    prefixes.extend(remote.map(|remote| format!("refs/remotes/{remote}/")));
    for prefix in prefixes {
        there.extend(repository.list_refs(&prefix)?.into_iter().map(|found| found.target));
    }
    Ok(there)
}

type LeavingObjects = BTreeMap<Oid, (String, LeavingPlace)>;

fn new_objects(
    repository: &Repository,
    tips: &[Oid],
    there: &[Oid],
    place: LeavingPlace,
) -> Result<LeavingObjects> {
    if tips.is_empty() {
        return Ok(LeavingObjects::new());
    }
    let wanted = tips.iter().map(|tip| format!("{tip}\n"));
    let known = there.iter().map(|tip| format!("^{tip}\n"));
    let input: String = wanted.chain(known).collect();
    let arguments =
        ["--no-replace-objects", "-c", "core.quotePath=false", "rev-list", "--objects", "--stdin"];
    let end = repository.git_reading(&arguments, input.as_bytes())?;
    let listed = end.checked(&arguments[3..])?;
    let line = |line: &str| {
        let (oid, path) = line.split_once(' ').unwrap_or((line, ""));
        Some((Oid::parse(oid).ok()?, (path.to_owned(), place)))
    };
    Ok(listed.lines().filter_map(line).collect())
}

/// Refuses commits and notes of private agents, however they are reached.
fn refuse_private(
    space: &SessionSpace,
    changes: &[HeadChange],
    objects: &LeavingObjects,
) -> Result<()> {
    let repository = space.repository();
    let private = repository.private_agents()?;
    if private.is_empty() {
        return Ok(());
    }
    let mut owners: BTreeMap<Oid, AgentName> = BTreeMap::new();
    for agent in &private {
        for name in [agent.branch_ref(), agent.notes_ref()] {
            if let Some(tip) = repository.find_ref(&name)? {
                owners.insert(tip, agent.clone());
            }
        }
    }
    for (oid, (path, _)) in objects {
        // Files and folders have paths, at least below their commits; commits have none.
        if !path.is_empty() {
            continue;
        }
        let owner = match owners.get(oid) {
            Some(owner) => Some(owner.clone()),
            None => claimed(repository, *oid)?.filter(|agent| private.contains(agent)),
        };
        if let Some(owner) = owner {
            let by = reached_by(repository, changes, *oid)?;
            return Err(Error::not_allowed(
                format!("{by} reaches {oid}, which is of the private agent `{owner}`"),
                format!(
                    "nothing was signed: `agentic agent private` keeps {by} here, too; \
                     `agentic agent public {owner}` lets both go"
                ),
            ));
        }
    }
    Ok(())
}

fn claimed(repository: &Repository, oid: Oid) -> Result<Option<AgentName>> {
    let object = repository.verify_object(oid)?;
    match object.kind {
        GitKind::Commit => Ok(Claims::read(&repository.read_commit(oid)?.message).agent),
        GitKind::Tree | GitKind::Blob => Ok(None),
    }
}

fn reached_by(repository: &Repository, changes: &[HeadChange], commit: Oid) -> Result<String> {
    for change in changes {
        for tip in change.new.iter().flat_map(crate::shard::HeadEntry::tips) {
            if repository.is_ancestor(commit, tip)? {
                return Ok(format!("`{}`", change.agent));
            }
        }
    }
    Ok("what is announced".to_owned())
}

/// Finds the secrets of an object.
fn findings_in(
    repository: &Repository,
    redactor: &SecretRedactor,
    oid: Oid,
    place: LeavingPlace,
) -> Result<Vec<SecretFinding>> {
    let object = repository.verify_object(oid)?;
    let of_bytes = |bytes: &[u8]| redactor.redact_bytes(bytes).1;
    Ok(match (object.kind, place) {
        // The names that stand in it are the paths of what it holds.
        (GitKind::Tree, _) => Vec::new(),
        (GitKind::Commit, _) => match object.bytes.windows(2).position(|two| two == b"\n\n") {
            Some(at) => of_bytes(&object.bytes[at + 2..]),
            None => Vec::new(),
        },
        (GitKind::Blob, LeavingPlace::Text) => match sealed_records(&object.bytes)? {
            Some(records) => {
                records.iter().flat_map(|record| findings_in_text(redactor, record)).collect()
            }
            None => findings_in_text(redactor, &object.bytes),
        },
        (GitKind::Blob, LeavingPlace::File) => {
            let mut found = of_bytes(&object.bytes);
            found.retain(|finding| counts_in_files(finding.layer));
            found
        }
    })
}

fn findings_in_text(redactor: &SecretRedactor, bytes: &[u8]) -> Vec<SecretFinding> {
    match canonical::decode(bytes) {
        Ok(value @ (Value::Map(_) | Value::List(_))) => redactor.redact_value(&value).1,
        Ok(_) | Err(_) => redactor.redact_bytes(bytes).1,
    }
}

/// Takes the records of a session out of a sealed segment: as they stand there they are compressed, and look
/// like anything. Nothing for what is none.
fn sealed_records(bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    let Ok(object) = Object::decode(bytes) else { return Ok(None) };
    let records = records_of_segment(&object)?;
    Ok(Some(records).filter(|records| !records.is_empty()))
}

fn counts_in_files(layer: RedactLayer) -> bool {
    match layer {
        RedactLayer::KnownValue | RedactLayer::PrivateKey | RedactLayer::Provider => true,
        RedactLayer::Context | RedactLayer::Entropy => false,
    }
}

/// Names a finding: what a rule finds in an object, wherever that stands.
fn finding_cid(oid: Oid, finding: &SecretFinding) -> Cid {
    let named =
        Value::map([("object", oid_value(oid)), ("rule", Value::text(finding.rule.as_str()))]);
    Cid::of(&encode(&named))
}

/// Notes what is let go from now on, and returns everything that is.
fn allow(space: &SessionSpace, further: &[LeavingAllowance]) -> Result<BTreeSet<LeavingAllowance>> {
    let repository = space.repository();
    for _ in 0..RACES_MAX {
        let state = read_state(repository, LEAVING_REF)?;
        let tip = state.as_ref().map(|(tip, _)| *tip);
        let mut allowed = match &state {
            Some((_, folder)) => read_allowed(repository, folder)?,
            None => BTreeSet::new(),
        };
        let n_before = allowed.len();
        allowed.extend(further.iter().cloned());
        if allowed.len() == n_before {
            return Ok(allowed);
        }
        let lines: String = allowed.iter().map(|one| one.to_line() + "\n").collect();
        let mut folder = FolderDraft::default();
        folder.put(ALLOWED, lines.into_bytes());
        let (at, message) = (space.now(), "agentic announce --allow".to_owned());
        let content = ChainContent { folder, also: Vec::new(), at, message };
        let next = next_state(repository, LEAVING_REF, tip, content);
        if next.publish(repository, &mover(repository, at)?)? == RefMove::Moved {
            return Ok(allowed);
        }
    }
    Err(Error::conflict("others let something go all the time", "try again"))
}

fn read_allowed(
    repository: &Repository,
    folder: &TreeFolder,
) -> Result<BTreeSet<LeavingAllowance>> {
    let bytes = read_file(repository, folder, ALLOWED, ALLOWED_BYTES_MAX)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(text.lines().filter_map(LeavingAllowance::parse).collect())
}
