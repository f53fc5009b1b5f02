//! A change of what one name means, from who makes it to what became of it.

use std::collections::BTreeMap;

use agentic_model::edge::Party;
use agentic_model::{Cid, LibraryName, LibraryPointer, Object, Person};
use agentic_space::library::{
    ContestEnd, Library, LibraryEntry, LibraryState, MoveOccasion, MovedName, NameMove, move_name,
};

use crate::person::acting_party;
use crate::redaction::CallerRedactor;
use crate::verb::Reply;
use crate::view::RuleMoveView;
use crate::{Caller, Refusal};

/// A change of a name that somebody may make, and what the name means before it.
pub(super) struct RuleChange {
    name: LibraryName,
    by: Party,
    author: Option<Person>,
    contest: ContestEnd,
    found: LibraryEntry,
}

impl RuleChange {
    /// Finds out who changes what, and that it is what was expected.
    ///
    /// # Errors
    /// Fails when nobody knows who does, when the library cannot be read, and when the name means
    /// another thing than was expected.
    pub fn begin(
        caller: &Caller<'_>,
        name: LibraryName,
        is_resolved: bool,
        expected: Option<&str>,
    ) -> Result<RuleChange, Refusal> {
        let (by, author) = acting_party(caller, "change rules")?;
        let contest = contest_end(is_resolved);
        let found = found_entry(caller, &name, contest, &by)?;
        check_expected(&name, expected, found.pointer.as_ref())?;
        Ok(RuleChange { name, by, author, contest, found })
    }

    /// Makes the name mean another object, or nothing any more.
    ///
    /// # Errors
    /// Fails when somebody was faster, when this agent may not, and when it cannot be written.
    pub fn carry_out(
        self,
        caller: &Caller<'_>,
        to: Option<Cid>,
        objects: Vec<Object>,
        why: String,
        uses: BTreeMap<String, String>,
    ) -> Result<Reply<RuleMoveView>, Refusal> {
        let RuleChange { name, by, author, contest, found } = self;
        let mut redactor = CallerRedactor::new(caller)?;
        redactor.refuse_text("the name", name.as_str())?;
        let why = redactor.text("the reason", why);
        let library = Library::Rules;
        let occasion = MoveOccasion::Storing;
        let moving = NameMove { library, found, to, objects, by, author, why, contest, occasion };
        let mut reply = moved(&name, &move_name(caller.space, &moving)?, uses);
        reply.notices.extend(redactor.notices());
        Ok(reply)
    }
}

fn contest_end(is_resolved: bool) -> ContestEnd {
    if is_resolved { ContestEnd::Resolved } else { ContestEnd::Refused }
}

fn found_entry(
    caller: &Caller<'_>,
    name: &LibraryName,
    contest: ContestEnd,
    by: &Party,
) -> Result<LibraryEntry, Refusal> {
    let state: LibraryState<'_> = caller.space.library(Library::Rules)?;
    match (contest, by.agent()) {
        (ContestEnd::Resolved, None) => Ok(state.entry_past_damage(name)?),
        (ContestEnd::Resolved | ContestEnd::Refused, _) => Ok(state.entry(name)?),
    }
}

fn check_expected(
    name: &LibraryName,
    expected: Option<&str>,
    found: Option<&LibraryPointer>,
) -> Result<(), Refusal> {
    let Some(expected) = expected else { return Ok(()) };
    let hint = "an id is what `agentic rule list --json` shows";
    let wanted = Cid::parse(expected).map_err(|error| Refusal::usage(&error.to_string(), hint))?;
    let found = found.map(|pointer| pointer.cid);
    if found == Some(wanted) {
        return Ok(());
    }
    let message = format!("the rules `{name}` are not {wanted}");
    let hint = format!("look at them with `agentic rule show {name}`");
    let mut refusal = Refusal::conflict(&message, &hint);
    refusal.because = Some(match found {
        Some(cid) => format!("they are {cid}"),
        None => "there are none of that name".to_owned(),
    });
    Err(refusal)
}

fn moved(
    name: &LibraryName,
    moved: &MovedName,
    uses: BTreeMap<String, String>,
) -> Reply<RuleMoveView> {
    let cid =
        |pointer: &Option<LibraryPointer>| pointer.as_ref().map(|pointer| pointer.cid.to_string());
    let view = RuleMoveView {
        name: name.to_string(),
        cid: cid(&moved.after),
        before: cid(&moved.before),
        changed: moved.before != moved.after,
        uses,
    };
    Reply::written(view, &moved.written)
}
