//! Adopting: a name means another behaviour from now on. A person decides that.

use agentic_model::edge::Party;
use agentic_model::kind::TRIAL;
use agentic_model::{Cid, LibraryName, LibraryPointer, Object, Oid};
use agentic_session::trial::{ProvenTrial, TrialDoubt, TrialStanding, TriedAdoption};
use agentic_space::library::{
    AdoptionRecord, ContestEnd, Library, MoveOccasion, NameInForce, NameMove, move_name,
    move_name_here, private_objects, take_over,
};
use agentic_statistics::trial::TrialVerdict;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::behaviours::{
    BehaviourShelf, FoundBehaviour, UsableBehaviour, behaviour_name, behaviour_to_use,
};
use crate::person::acting_party;
use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb};
use crate::view::AdoptView;
use crate::{Caller, Notice, Refusal};

/// The word for no adoption, where one is expected.
const NONE: &str = "none";

/// Let a name mean a behaviour. A person's decision.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BehaviourAdopt {
    /// The name.
    pub name: String,
    /// The behaviour: its id, the beginning of that, or `PEER/NAME`.
    pub cid: Option<String>,
    /// Why.
    pub why: String,
    /// What speaks for it: ids of objects.
    pub evidence: Vec<String>,
    /// The adoption that has to be the name's last one here; `none` if there must be none.
    pub expect: Option<String>,
    /// The adoption of another clone that this passes over.
    pub over: Option<String>,
    /// Take over what was adopted there.
    pub from: Option<String>,
}

/// An adoption on its way.
struct Adoption<'c, 's> {
    caller: &'c Caller<'s>,
    shelf: BehaviourShelf<'s>,
    name: LibraryName,
    found: NameInForce,
    prior: Option<Oid>,
}

impl Verb for BehaviourAdopt {
    type Answer = AdoptView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<AdoptView>, Refusal> {
        caller.require_person("adopt behaviours")?;
        let name = behaviour_name(&self.name)?;
        let shelf = BehaviourShelf::new(caller.space);
        let found = caller.space.behaviour_in_force(&name)?;
        let prior = shelf.adoption(&found, found.pointer.as_ref())?;
        let adoption = Adoption { caller, shelf, name, found, prior };
        adoption.check_expected(self.expect.as_deref())?;
        match &self.from {
            Some(remote) => adoption.take_over(remote, self.cid.as_deref()),
            None => adoption.carry_out(&self),
        }
    }
}

impl Adoption<'_, '_> {
    fn check_expected(&self, expected: Option<&str>) -> Result<(), Refusal> {
        let Some(expected) = expected else { return Ok(()) };
        let is_it = match (self.prior, expected) {
            (None, NONE) => true,
            (Some(prior), text) => is_beginning(text, prior),
            (None, _) => false,
        };
        if is_it {
            return Ok(());
        }
        let message = format!("the last adoption of `{}` is not {expected}", self.name);
        let hint = format!("look at them with `agentic behaviour log {}`", self.name);
        let because =
            self.prior.map_or("nothing is adopted".to_owned(), |at| format!("it is {at}"));
        Err(Refusal { because: Some(because), ..Refusal::conflict(&message, &hint) })
    }

    /// Takes over what a fetch offered.
    fn take_over(&self, remote: &str, cid: Option<&str>) -> Result<Reply<AdoptView>, Refusal> {
        let (space, name) = (self.caller.space, &self.name);
        if space.home_remote().is_none_or(|home| home != remote) {
            let message =
                format!("`{remote}` is not the remote that shares the behaviours of this space");
            let hint = format!("adopt by id: `agentic behaviour adopt {name} CID -m WHY`");
            return Err(Refusal::refused(&message, &hint));
        }
        if self.found.shared.contested.is_some() {
            return Err(self.contested());
        }
        let Some(offered) = self.found.offered.clone() else {
            let message = format!("nothing else was adopted there as `{name}`");
            return Err(Refusal::refused(&message, "`agentic fetch` looks what there is"));
        };
        if let Some(cid) = cid
            && space.find_object(cid)? != offered.cid
        {
            let message = format!("`{name}` means {} there", offered.cid);
            return Err(Refusal::conflict(&message, "leave the id out, or adopt it with --over"));
        }
        self.sound(offered.cid)?;
        take_over(space, name)?;
        let adoption = self.shelf.adoption(&self.found, Some(&offered))?;
        Ok(Reply::plain(self.view(&offered, adoption)))
    }

    fn carry_out(&self, asked: &BehaviourAdopt) -> Result<Reply<AdoptView>, Refusal> {
        let (space, name) = (self.caller.space, &self.name);
        let Some(cid) = &asked.cid else {
            let hint =
                "name a behaviour that `agentic behaviour tree NAME` shows, or --from REMOTE";
            return Err(Refusal::usage("nothing to adopt is named", hint));
        };
        if asked.why.trim().is_empty() {
            return Err(Refusal::usage("nobody says why", "say it with -m"));
        }
        let (found, parts) = self.named(cid)?;
        let over = self.over(asked.over.as_deref())?;
        let evidence: Result<Vec<Cid>, Refusal> = asked
            .evidence
            .iter()
            .map(|id| Ok(space.object(space.find_object(id)?)?.cid()))
            .collect();
        let evidence = evidence?;
        let mut notices = self.overtaken(&evidence, found.cid())?;
        let mut redactor = CallerRedactor::new(self.caller)?;
        redactor.refuse_text("the name", name.as_str())?;
        let why = redactor.text("the reason", asked.why.clone());
        notices.extend(redactor.notices());
        let told: Vec<Cid> = evidence.iter().copied().chain([found.cid()]).collect();
        let private = private_objects(space, &told)?;
        let (by, author): (Party, _) = acting_party(self.caller, "adopt behaviours")?;
        let record = AdoptionRecord {
            from: self.found.pointer.as_ref().map(|pointer| pointer.cid),
            prior: self.prior,
            over,
            evidence,
            asker: None,
            decided_by: None,
        };
        let moving = NameMove {
            library: Library::Behaviours,
            found: self.found.shared.clone(),
            to: Some(found.cid()),
            objects: parts.into_iter().chain([found.object]).collect(),
            by,
            author,
            why,
            contest: if over.is_some() { ContestEnd::Resolved } else { ContestEnd::Refused },
            occasion: MoveOccasion::Adoption(Box::new(record)),
        };
        let moved = match private.is_empty() {
            true => move_name(space, &moving)?,
            false => move_name_here(space, &moving)?,
        };
        if private.is_empty() {
            // What was held back counts no more: the name has moved on from what it was held against.
            take_over(space, name)?;
        } else {
            let what = format!(
                "`{name}` means this here alone: what speaks for it is of private agents, and no push takes that along"
            );
            notices.push(Notice::Remark { what });
        }
        let after = moved.after.clone().expect("BUG: an adoption sets a name");
        let adoption = self.shelf.adoption(&self.found, Some(&after))?;
        let mut view = self.view(&after, adoption);
        view.here_alone = !private.is_empty();
        view.changed = moved.before != moved.after || self.found.offered.is_some();
        let reply = Reply::written(view, &moved.written);
        notices.extend(reply.notices);
        Ok(Reply { notices, ..reply })
    }

    /// Finds what is to be adopted, and the objects that it consists of besides its own.
    fn named(&self, text: &str) -> Result<(FoundBehaviour, Vec<Object>), Refusal> {
        let is_meant = text.starts_with(Cid::PREFIX) || text.contains('/');
        let usable = match is_meant {
            true => behaviour_to_use(self.caller, text)?,
            false => UsableBehaviour::here(self.sound(self.caller.space.find_object(text)?)?),
        };
        let parts = match usable.parts() {
            Some(parts) => parts.to_vec(),
            None => usable.found.check(self.caller.space, |_| None)?,
        };
        Ok((usable.found, parts))
    }

    /// Judges trials again that are to speak for a behaviour, by all trials that are known now, and says
    /// which of them do not. A person may adopt it all the same.
    fn overtaken(&self, evidence: &[Cid], behaviour: Cid) -> Result<Vec<Notice>, Refusal> {
        let from = self.found.pointer.as_ref().map(|pointer| pointer.cid);
        let mut notices = Vec::new();
        for cid in evidence {
            let trial = self.caller.space.object(*cid)?;
            let adoption = TriedAdoption { to: behaviour, from };
            let doubt = match ProvenTrial::of(self.caller.space, &trial) {
                Ok(proven) if adoption.is_against(&proven) => None,
                Ok(_) => Some(TrialDoubt::OtherBaseline),
                Err(doubt) => Some(doubt),
            };
            if let Some(doubt) = doubt.filter(|_| trial.kind().as_str() == TRIAL) {
                notices.push(Notice::Remark { what: format!("the trial {cid}: {doubt}") });
            }
            let now = TrialStanding::now(self.caller.space, &trial, adoption)?;
            let Some(now) = now.filter(|now| now.verdict != TrialVerdict::Better) else { continue };
            let what = format!(
                "the trial {cid} does not show that this is better: as number {} it may mislead in {:.4}, and says {}",
                now.attempt,
                now.alpha,
                now.verdict.word()
            );
            notices.push(Notice::Remark { what });
        }
        Ok(notices)
    }

    /// Finds the adoption of another clone that is passed over, if there is one; it has to be named.
    fn over(&self, named: Option<&str>) -> Result<Option<Oid>, Refusal> {
        let there = self.found.shared.contested.as_ref().or(self.found.offered.as_ref());
        let there = self.shelf.adoption(&self.found, there)?;
        match (there, named) {
            (None, None) => Ok(None),
            (Some(there), Some(text)) if is_beginning(text, there) => Ok(Some(there)),
            (None, Some(text)) => {
                let message = format!("no other clone adopted anything by {text}");
                Err(Refusal::conflict(&message, "leave --over out"))
            }
            (Some(_), _) => Err(self.contested()),
        }
    }

    /// Says that another clone adopted something, too.
    fn contested(&self) -> Refusal {
        let name = &self.name;
        let (there, what) = match &self.found.shared.contested {
            Some(there) => (Some(there), "was adopted here and in another clone"),
            None => (self.found.offered.as_ref(), "was adopted anew in another clone"),
        };
        let adoption = self.shelf.adoption(&self.found, there).ok().flatten();
        let oid = adoption.map_or("OID".to_owned(), |oid| oid.to_string());
        let mut hint = format!(
            "`agentic behaviour show {name}` shows both; `agentic behaviour adopt {name} CID --over {oid} -m WHY` chooses"
        );
        if self.found.shared.contested.is_none() {
            hint += &format!(", `agentic behaviour adopt {name} --from REMOTE` takes theirs");
        }
        let because = there.map(|there| format!("there it means {}", there.cid));
        Refusal { because, ..Refusal::conflict(&format!("`{name}` {what}"), &hint) }
    }

    /// Reads a behaviour that may be adopted.
    fn sound(&self, cid: Cid) -> Result<FoundBehaviour, Refusal> {
        FoundBehaviour::of(self.caller.space.object(cid)?)
    }

    fn view(&self, after: &LibraryPointer, adoption: Option<Oid>) -> AdoptView {
        let before = self.found.pointer.as_ref();
        AdoptView {
            name: self.name.to_string(),
            cid: after.cid.to_string(),
            before: before.map(|pointer| pointer.cid.to_string()),
            adoption: adoption.map(|oid| oid.to_string()),
            changed: before != Some(after),
            here_alone: false,
        }
    }
}

/// Says whether a text is an id, or how one begins.
fn is_beginning(text: &str, oid: Oid) -> bool {
    const DIGITS_MIN: usize = 7;
    text.len() >= DIGITS_MIN && oid.to_string().starts_with(&text.to_ascii_lowercase())
}
