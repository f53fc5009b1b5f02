//! Adopting a version of a behaviour because a person said so, in the records of the session that asks.
//!
//! The approval is one of a hold that shows exactly what is adopted: the name, the adoption that it takes
//! the place of, the version, and the trial that found it better. What a fork shares of its parent is no
//! approval of its own. Where the user's own configuration lets a name skip the hold, nothing new may be
//! in the version.

use agentic_model::behaviour::news;
use agentic_model::edge::Party;
use agentic_model::kind::TRIAL;
use agentic_model::{Cid, LibraryName, Object, Oid, Value};
use agentic_replay::{
    AnswerSource, AskedRequest, HOLD, Performance, ProgramFailure, RequestAnswer, StartRecord,
};
use agentic_space::commit::Asker;
use agentic_space::error::LibraryError;
use agentic_space::library::{
    AdoptionRecord, ContestEnd, Library, MoveOccasion, NameInForce, NameMove, move_name,
    move_name_here, private_objects, take_over,
};

use super::proposal::{bad, library_name, named_behaviour, parts, read, text};
use crate::action::Action;
use crate::decision::Decision;
use crate::trial::{TrialDoubt, TrialEvidence, TriedAdoption, in_force_of};
use crate::{Error, Result, SessionSpace};

/// Who decided then.
const AUTO: &str = "system:auto";
/// The code of the failure when the name was moved: it is to be asked anew.
const CONFLICT: &str = "conflict";
/// The code of the failure when no person has approved.
const UNDECIDED: &str = "undecided";
/// The fields in which a hold and the adoption must agree.
const AGREED: [&str; 4] = ["name", "prior", "cid", "trial"];

/// An adoption that a program asks for.
struct WantedAdoption<'a> {
    space: &'a SessionSpace,
    start: &'a StartRecord,
    payload: &'a Value,
    name: LibraryName,
    object: Object,
    trial: Object,
}

/// Who let an adoption happen.
struct AdoptionConsent {
    /// The person, as whom the name is moved.
    by: Party,
    /// Who decided, where that is not the person.
    decided_by: Option<String>,
    why: String,
}

/// Adopts a version, or says why not. Performed again it finds what it did.
pub(super) fn adopt(
    space: &SessionSpace,
    start: &StartRecord,
    performance: &Performance,
    asker: Asker,
) -> Result<RequestAnswer> {
    let payload = &performance.request.payload;
    let wanted = WantedAdoption {
        space,
        start,
        payload,
        name: library_name(payload)?,
        object: named_behaviour(space, payload, "cid")?,
        trial: trial(space, payload)?,
    };
    let found = space.behaviour_in_force(&wanted.name)?;
    let last = wanted.last_adoption(&found)?;
    if let Some(done) = wanted.done_before(last, &performance.id.to_string())? {
        return Ok(RequestAnswer::Ok(wanted.value(Some(done))));
    }
    let from = found.pointer.as_ref().map(|pointer| pointer.cid);
    let adoption = TriedAdoption { to: wanted.object.cid(), from };
    let evidence = match TrialEvidence::of(space, &wanted.trial, adoption)? {
        Ok(evidence) => evidence,
        // Who asks has to know first that the name has moved.
        Err(TrialDoubt::OtherBaseline) if last != wanted.prior()? => {
            return Ok(wanted.conflict(last));
        }
        Err(doubt) => return Ok(refused(doubt)),
    };
    let Some(consent) = wanted.consent(&evidence)? else {
        let message = format!(
            "no person has approved that `{}` means {} in this session",
            wanted.name,
            wanted.object.cid()
        );
        return Ok(RequestAnswer::Failed(ProgramFailure::new(UNDECIDED, message)));
    };
    if last != wanted.prior()? || found.offered.is_some() || found.shared.contested.is_some() {
        return Ok(wanted.conflict(last));
    }
    wanted.carry_out(&found, consent, asker)
}

/// Reads the trial that a request names.
fn trial(space: &SessionSpace, payload: &Value) -> Result<Object> {
    let cid = Cid::parse(text(payload, "trial")?).map_err(|_| bad("`trial` is no id"))?;
    let object = space.object(cid)?;
    if object.kind().as_str() == TRIAL { Ok(object) } else { Err(bad("`trial` is no trial")) }
}

/// Says why a trial speaks for no adoption.
fn refused(doubt: TrialDoubt) -> RequestAnswer {
    let message = format!("the trial speaks for no adoption: {doubt}");
    RequestAnswer::Failed(ProgramFailure::new(doubt.class().word(), message))
}

impl WantedAdoption<'_> {
    fn prior(&self) -> Result<Option<Oid>> {
        match self.payload.get("prior") {
            None | Some(Value::Null) => Ok(None),
            Some(prior) => {
                let oid = prior.as_text().and_then(|text| Oid::parse(text).ok());
                oid.map(Some).ok_or_else(|| bad("`prior` is no id of an adoption"))
            }
        }
    }

    /// Finds the last adoption of the name here.
    fn last_adoption(&self, found: &NameInForce) -> Result<Option<Oid>> {
        let Some(pointer) = &found.pointer else { return Ok(None) };
        Ok(self.space.adoption_of(&self.name, pointer)?)
    }

    /// Finds the adoption that this request made before a crash, whatever was adopted since.
    fn done_before(&self, last: Option<Oid>, request: &str) -> Result<Option<Oid>> {
        if last == self.prior()? {
            return Ok(None);
        }
        let changes = self.space.behaviour_changes(&self.name)?;
        let own = changes.iter().find(|change| change.request.as_deref() == Some(request));
        Ok(own.map(|change| change.commit))
    }

    /// Finds who let it happen: a person in a hold of this session, or the user's own configuration.
    fn consent(&self, evidence: &TrialEvidence) -> Result<Option<AdoptionConsent>> {
        let summary = self.space.session(&self.start.session)?;
        // What a fork shares was said to its parent.
        let own_from = summary.forked_from.map_or(0, |(_, seq)| seq);
        for asked in summary.asked.iter().rev().filter(|asked| asked.seq >= own_from) {
            if let Some(decision) = self.approval(asked)? {
                let by =
                    Party::parse(&decision.principal).map_err(|error| bad(error.to_string()))?;
                return Ok(Some(AdoptionConsent {
                    by,
                    decided_by: None,
                    why: self.why(&decision),
                }));
            }
        }
        self.unasked(evidence)
    }

    /// Returns the decision of a request if that is a hold which shows this adoption, and a person
    /// approved it.
    fn approval(&self, asked: &AskedRequest) -> Result<Option<Decision>> {
        let Some((_, RequestAnswer::Ok(_), AnswerSource::Decision(commit))) = &asked.answer else {
            return Ok(None);
        };
        let shown = asked.payload.get("payload");
        let agrees = |field: &&str| {
            let of = |value: Option<&Value>| {
                value.and_then(|it| it.get(field)).filter(|it| **it != Value::Null).cloned()
            };
            of(shown) == of(Some(self.payload))
        };
        if asked.kind != HOLD || !AGREED.iter().all(agrees) {
            return Ok(None);
        }
        let Ok(commit) = Oid::parse(commit) else { return Ok(None) };
        let decision = Decision::of_commit(self.space, commit)?;
        let is_approval = |decision: &Decision| {
            decision.action == Action::Approve && decision.principal.starts_with("user:")
        };
        Ok(decision.filter(is_approval))
    }

    fn why(&self, decision: &Decision) -> String {
        match decision.rationale.trim() {
            "" => "Approved".to_owned(),
            why => why.to_owned(),
        }
    }

    /// Asks the user's own configuration, which no file of a repository adds to. A version that names
    /// something new is always put before a person. So is one whose trial is warned of, and one that was
    /// scored by what no person adopted.
    fn unasked(&self, evidence: &TrialEvidence) -> Result<Option<AdoptionConsent>> {
        let proven = &evidence.proven;
        let first = proven.arms.first().and_then(|cid| Cid::parse(cid).ok());
        let (true, Some(first)) = (self.space.adopts_unasked(&self.name), first) else {
            return Ok(None);
        };
        let scorer: Vec<String> = proven.scorer.iter().cloned().collect();
        if !evidence.warnings.is_empty() || in_force_of(self.space, &scorer)?.is_empty() {
            return Ok(None);
        }
        let before = self.space.behaviour_in_force(&self.name)?.pointer.map(|pointer| pointer.cid);
        let base = self.space.object(first)?;
        if before != Some(first) || !news(&read(&base)?, &read(&self.object)?).is_empty() {
            return Ok(None);
        }
        let by = Party::parse(&self.space.principal()?).map_err(|error| bad(error.to_string()))?;
        let why = "A trial found it better, and it names nothing new".to_owned();
        Ok(Some(AdoptionConsent { by, decided_by: Some(AUTO.to_owned()), why }))
    }

    fn carry_out(
        &self,
        found: &NameInForce,
        consent: AdoptionConsent,
        asker: Asker,
    ) -> Result<RequestAnswer> {
        let parts = parts(self.space, &self.object, &read(&self.object)?)?;
        let record = AdoptionRecord {
            from: found.pointer.as_ref().map(|pointer| pointer.cid),
            prior: self.prior()?,
            over: None,
            evidence: vec![self.trial.cid()],
            asker: Some(asker),
            decided_by: consent.decided_by,
        };
        let moving = NameMove {
            library: Library::Behaviours,
            found: found.shared.clone(),
            to: Some(self.object.cid()),
            objects: parts.into_iter().chain([self.object.clone()]).collect(),
            by: consent.by,
            author: None,
            why: consent.why,
            contest: ContestEnd::Refused,
            occasion: MoveOccasion::Adoption(Box::new(record)),
        };
        // What private agents alone keep is told to nobody else.
        let kept = private_objects(self.space, &[self.object.cid(), self.trial.cid()])?;
        let is_here_alone = !kept.is_empty();
        let moved = match is_here_alone {
            true => move_name_here(self.space, &moving),
            false => move_name(self.space, &moving),
        };
        match moved {
            Ok(moved) => moved.written.visible()?,
            Err(agentic_space::Error::Library(
                LibraryError::NameMoved { .. } | LibraryError::Contested { .. },
            )) => {
                let now = self.space.behaviour_in_force(&self.name)?;
                return Ok(self.conflict(self.last_adoption(&now)?));
            }
            Err(error) => return Err(Error::Space(error)),
        }
        if !is_here_alone {
            take_over(self.space, &self.name)?;
        }
        let now = self.space.behaviour_in_force(&self.name)?;
        Ok(RequestAnswer::Ok(self.value(self.last_adoption(&now)?)))
    }

    fn value(&self, adoption: Option<Oid>) -> Value {
        let adoption = adoption.map_or(Value::Null, |oid| Value::text(oid.to_string()));
        Value::map([
            ("name", Value::text(self.name.as_str())),
            ("cid", Value::text(self.object.cid().to_string())),
            ("adoption", adoption),
        ])
    }

    /// Says that the name was moved, and by which adoption: what is asked anew has to name that.
    fn conflict(&self, last: Option<Oid>) -> RequestAnswer {
        let now = last.map_or("nothing is adopted".to_owned(), |oid| format!("it is {oid}"));
        let message = format!("`{}` was moved meanwhile: {now}", self.name);
        let prior = last.map_or(Value::Null, |oid| Value::text(oid.to_string()));
        let details = Value::map([("prior", prior)]);
        RequestAnswer::Failed(ProgramFailure { details, ..ProgramFailure::new(CONFLICT, message) })
    }
}
