//! What leaves with an announcement: nothing of private agents, and no secret that nobody let go.
//!
//! It is looked at before anybody signs. Notes, messages and names are searched by all rules; files of commits only
//! for known values, private keys and secrets of providers, since the others would stop at ordinary code.

mod private;
mod secret;
mod step;

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::{RefMove, Repository};
use agentic_model::{Cid, Oid};
use agentic_redact::SecretRedactor;
use agentic_session::SessionSpace;

use self::private::refuse_private;
use self::secret::{LeavingObject, LeavingSecret, findings_in_name};
use self::step::stepped_objects;
use crate::accepted::ACCEPTED_REFS;
use crate::durable::{ChainContent, RACES_MAX, mover, next_state, read_state};
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
    /// What stands in the announcement itself.
    pub said: Vec<LeavingText<'a>>,
}

/// A text that somebody wrote and that would leave.
pub(crate) struct LeavingText<'a> {
    /// What it is.
    pub what: &'static str,
    /// The text.
    pub text: &'a str,
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
    let new_agents = leaving.changes.iter().filter(|change| change.old.is_none());
    for agent in new_agents.map(|change| &change.agent) {
        refuse_secrets(&allowed, findings_in_name(rules.redactor, agent))?;
    }
    for said in &leaving.said {
        refuse_secrets(&allowed, said.findings(rules.redactor))?;
    }
    if leaving.tips.is_empty() {
        return Ok(());
    }
    let checked = LeavingCheck {
        space,
        redactor: rules.redactor,
        changes: leaving.changes,
        allowed: &allowed,
    };
    let tips: Vec<Oid> = leaving.tips.iter().copied().collect();
    let stepped = stepped_objects(repository, &tips, leaving.changes);
    if let Ok(Some(objects)) = stepped
        && checked.pass(&objects).is_ok()
    {
        return Ok(());
    }
    let heads: BTreeSet<Oid> =
        leaving.changes.iter().filter_map(|change| Some(change.new.as_ref()?.head)).collect();
    let (files, texts): (Vec<Oid>, Vec<Oid>) =
        leaving.tips.iter().partition(|tip| heads.contains(*tip));
    let there = known_there(repository, rules.remote, leaving.before)?;
    let mut objects = new_objects(repository, &files, &there, LeavingPlace::File)?;
    objects.extend(new_objects(repository, &texts, &there, LeavingPlace::Text)?);
    checked.pass(&objects)
}

/// By what objects are checked that would leave.
struct LeavingCheck<'a> {
    space: &'a SessionSpace,
    redactor: &'a SecretRedactor,
    changes: &'a [HeadChange],
    allowed: &'a BTreeSet<LeavingAllowance>,
}

impl LeavingCheck<'_> {
    /// Refuses objects of which something may not leave.
    fn pass(&self, objects: &LeavingObjects) -> Result<()> {
        refuse_private(self.space, self.changes, objects)?;
        for (oid, (path, place)) in objects {
            let object = LeavingObject { oid: *oid, path, place: *place };
            let findings = object.findings(self.space.repository(), self.redactor)?;
            refuse_secrets(self.allowed, findings)?;
        }
        Ok(())
    }
}

/// Refuses secrets that nobody let go.
fn refuse_secrets(
    allowed: &BTreeSet<LeavingAllowance>,
    findings: Vec<LeavingSecret>,
) -> Result<()> {
    let is_kept = |finding: &LeavingSecret| {
        let allowances = finding.allowances();
        !allowances.iter().any(|allowance| allowed.contains(allowance))
    };
    match findings.into_iter().find(is_kept) {
        Some(finding) => Err(finding.refusal()),
        None => Ok(()),
    }
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
