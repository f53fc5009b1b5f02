//! The secrets of what leaves: in texts, in files, and in names.

use agentic_git::Repository;
use agentic_model::{AgentName, Cid, Object, Oid, Value, canonical};
use agentic_redact::{RedactLayer, SecretFinding, SecretRedactor};
use agentic_session::sealed::records_of_segment;
use agentic_store::journal::GitKind;

use super::{LeavingAllowance, LeavingPlace, LeavingText};
use crate::fields::{encode, oid_value};
use crate::folder::names_in_tree;
use crate::{Error, Result};

/// The headers of a commit that name people.
const PEOPLE: [&[u8]; 2] = [b"author", b"committer"];
/// The headers that nobody writes into: ids, and signatures.
const UNSAID_HEADERS: [&[u8]; 4] = [b"tree", b"parent", b"gpgsig", b"gpgsig-sha256"];

/// An object that would leave.
pub(super) struct LeavingObject<'a> {
    /// Which.
    pub oid: Oid,
    /// Its path, if it has one.
    pub path: &'a str,
    /// Where it stands.
    pub place: LeavingPlace,
}

/// A secret that would leave.
#[derive(Debug, Clone)]
pub(super) struct LeavingSecret {
    /// What has it, for people.
    what: String,
    /// The path of the file that has it, or whose name does.
    path: Option<String>,
    /// The rule that found it.
    rule: String,
    /// The finding: what a rule finds in an object or a name, wherever that stands.
    cid: Cid,
}

impl LeavingSecret {
    fn of_object(object: &LeavingObject<'_>, finding: &SecretFinding) -> LeavingSecret {
        let (oid, path, rule) = (object.oid, object.path, finding.rule.to_string());
        let at = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
        let cid = finding_cid([("object", oid_value(oid)), ("rule", Value::text(&rule))]);
        let path = (!path.is_empty()).then(|| path.to_owned());
        LeavingSecret { what: format!("the object {oid}{at}"), path, rule, cid }
    }

    /// Makes one of a name of a file: another folder with it is another object, and the name the same.
    fn of_file_name(path: String, finding: &SecretFinding) -> LeavingSecret {
        let rule = finding.rule.to_string();
        let cid = finding_cid([("path", Value::text(&path)), ("rule", Value::text(&rule))]);
        LeavingSecret { what: format!("the name of `{path}`"), path: Some(path), rule, cid }
    }

    /// Lists what would let it go.
    pub fn allowances(&self) -> Vec<LeavingAllowance> {
        let file = self
            .path
            .iter()
            .map(|path| LeavingAllowance::File { path: path.clone(), rule: self.rule.clone() });
        file.chain([LeavingAllowance::Finding(self.cid)]).collect()
    }

    /// Says that it does not leave.
    pub fn refusal(&self) -> Error {
        let LeavingSecret { what, path, rule, cid } = self;
        let by_file = match path {
            None => String::new(),
            Some(path) => format!(", `--allow {path}:{rule}` those of that file"),
        };
        Error::not_allowed(
            format!("{what} has a secret, found by rule `{rule}`"),
            format!(
                "nothing was signed: `agentic purge` takes it out; \
                 `agentic announce --allow {cid}` lets this one go{by_file}"
            ),
        )
    }
}

/// Finds the secrets of the name of an agent.
pub(super) fn findings_in_name(redactor: &SecretRedactor, agent: &AgentName) -> Vec<LeavingSecret> {
    let found = redactor.redact_bytes(agent.as_str().as_bytes()).1;
    let secret = |finding: SecretFinding| {
        let rule = finding.rule.to_string();
        let named = [("agent", Value::text(agent.as_str())), ("rule", Value::text(&rule))];
        let (what, cid) = (format!("the name of the agent `{agent}`"), finding_cid(named));
        LeavingSecret { what, path: None, rule, cid }
    };
    found.into_iter().map(secret).collect()
}

impl LeavingText<'_> {
    /// Finds its secrets. The finding is of the text: the same one elsewhere is the same.
    pub(super) fn findings(&self, redactor: &SecretRedactor) -> Vec<LeavingSecret> {
        let secret = |finding: SecretFinding| {
            let rule = finding.rule.to_string();
            let text = Cid::of(self.text.as_bytes());
            let cid = finding_cid([("rule", Value::text(&rule)), ("text", Value::Link(text))]);
            LeavingSecret { what: self.what.to_owned(), path: None, rule, cid }
        };
        redactor.redact_bytes(self.text.as_bytes()).1.into_iter().map(secret).collect()
    }
}

impl LeavingObject<'_> {
    /// Finds its secrets.
    pub fn findings(
        &self,
        repository: &Repository,
        redactor: &SecretRedactor,
    ) -> Result<Vec<LeavingSecret>> {
        let object = repository.verify_object(self.oid)?;
        let of_bytes = |bytes: &[u8]| redactor.redact_bytes(bytes).1;
        let found = match (object.kind, self.place) {
            (GitKind::Tree, LeavingPlace::File) => {
                return Ok(self.findings_in_names(&object.bytes, redactor));
            }
            // Names there are ids, and names of objects.
            (GitKind::Tree, LeavingPlace::Text) => Vec::new(),
            (GitKind::Commit, _) => {
                let end = object.bytes.windows(2).position(|two| two == b"\n\n");
                let (headers, message) = object.bytes.split_at(end.unwrap_or(object.bytes.len()));
                let mut found = findings_in_headers(redactor, headers);
                found.extend(of_bytes(message));
                found
            }
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
        };
        Ok(found.iter().map(|finding| LeavingSecret::of_object(self, finding)).collect())
    }

    /// Finds the secrets of the names that a folder has.
    fn findings_in_names(&self, tree: &[u8], redactor: &SecretRedactor) -> Vec<LeavingSecret> {
        let above = if self.path.is_empty() { String::new() } else { format!("{}/", self.path) };
        let mut secrets = Vec::new();
        for name in names_in_tree(tree, self.oid.as_bytes().len()) {
            for finding in redactor.redact_bytes(name).1 {
                let path = format!("{above}{}", String::from_utf8_lossy(name));
                secrets.push(LeavingSecret::of_file_name(path, &finding));
            }
        }
        secrets
    }
}

/// Finds the secrets of what stands before the message of a commit: who made it, and whatever else somebody put
/// there. Ids and signatures are none; what only looks like a secret may be an id that another tool keeps there.
fn findings_in_headers(redactor: &SecretRedactor, headers: &[u8]) -> Vec<SecretFinding> {
    let (mut people, mut others, mut is_left_out) = (Vec::new(), Vec::new(), false);
    for line in headers.split(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b' ').next().unwrap_or_default();
        // A line that goes on from the one before begins with a space.
        let is_new = !name.is_empty();
        is_left_out = if is_new { UNSAID_HEADERS.contains(&name) } else { is_left_out };
        let of = if is_new && PEOPLE.contains(&name) { &mut people } else { &mut others };
        if !is_left_out {
            of.extend_from_slice(line.strip_prefix(b" ").unwrap_or(line));
            of.push(b'\n');
        }
    }
    let mut found = redactor.redact_bytes(&people).1;
    let mut further = redactor.redact_bytes(&others).1;
    further.retain(|finding| finding.layer != RedactLayer::Entropy);
    found.extend(further);
    found
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

fn finding_cid(named: [(&str, Value); 2]) -> Cid {
    Cid::of(&encode(&Value::map(named)))
}
