//! Agents of subagents: children of the agent whose conversation began them.

use agentic_model::AgentName;
use agentic_space::spawn::SpawnOrigin;

use super::adopt::{AgentVisibility, WantedAgent, briefing};
use super::{Binder, Binding, NAMES, id_digits, put_off};
use crate::conversation::{BindReason, ConversationRecord};
use crate::event::{EventSubagent, HookEvent, HookMoment};
use crate::spool::{self, SpoolOwner};
use crate::{CaptureError, ConversationId, private};

/// How much of its parent's name a child's has, in characters.
const PARENT_CHARS_MAX: usize = 54;
/// How much where the child needs more digits.
const PARENT_CHARS_LESS: usize = 46;
/// How much where it needs all.
const PARENT_CHARS_LEAST: usize = 30;

impl Binder<'_> {
    /// Finds the child of an agent that a subagent is, or makes it. A helper of the vendor's, which ends
    /// and never began, is none.
    pub(super) fn bind_child(
        &mut self,
        event: &HookEvent,
        subagent: &EventSubagent,
        parent: Binding,
    ) -> Result<Option<Binding>, CaptureError> {
        let layout = self.space.repository().layout();
        let (id, known) = self.record_of(subagent, &parent.id);
        // What is known already stays where it is, whatever its parent is bound to by now.
        if let Some(record) = &known
            && let Some(agent) = record.agent()
            && self.brought_back(&agent)?
        {
            let reason = BindReason::Parent;
            let (is_new, is_helper) = (false, false);
            return Ok(Some(Binding { agent, reason, id, known, is_new, is_helper }));
        }
        if self.is_helper(event, subagent, &id) {
            return Ok(Some(Binding { is_helper: true, ..parent }));
        }
        let above = match &subagent.parent {
            Some(other) => {
                let other = ConversationId { source: id.source, native: other.clone() };
                ConversationRecord::load(layout, &other).and_then(|record| record.agent())
            }
            None => None,
        };
        let above = above.unwrap_or(parent.agent);
        let had = self.have(&WantedAgent {
            names: child_names(&above, &subagent.id),
            briefing: briefing(&briefing_text(subagent, &id))?,
            visibility: match private::is_private(self.space, &above)? {
                true => AgentVisibility::Private,
                false => AgentVisibility::Public,
            },
            origin: SpawnOrigin::Agent(above),
        });
        let (reason, known, is_helper) = (BindReason::Parent, None, false);
        let binding = |agent: AgentName| Binding {
            agent,
            reason,
            id: id.clone(),
            known: known.clone(),
            is_new: false,
            is_helper,
        };
        let (agent, is_new) = had.map_err(|error| put_off::of(error, binding))?;
        Ok(Some(Binding { agent, reason, id, known, is_new, is_helper }))
    }

    /// Tells whether a subagent is a helper of the vendor's: it ends and never began, not even while
    /// its agent could not be made.
    pub(super) fn is_helper(
        &self,
        event: &HookEvent,
        subagent: &EventSubagent,
        id: &ConversationId,
    ) -> bool {
        event.moment == HookMoment::SubagentEnds
            && subagent.sort.is_empty()
            && !spool::has_room(self.space.repository().layout(), SpoolOwner::Conversation(id))
    }

    /// Finds what is remembered of a subagent. Vendors that count them begin anew in each conversation.
    pub(super) fn record_of(
        &self,
        subagent: &EventSubagent,
        parent: &ConversationId,
    ) -> (ConversationId, Option<ConversationRecord>) {
        let layout = self.space.repository().layout();
        let plain = ConversationId { source: parent.source, native: subagent.id.clone() };
        match ConversationRecord::load(layout, &plain) {
            Some(record) if record.parent.as_deref() != Some(&parent.native) => {
                let native = format!("{}/{}", parent.native, subagent.id);
                let own = ConversationId { source: parent.source, native };
                let known = ConversationRecord::load(layout, &own);
                (own, known)
            }
            known => (plain, known),
        }
    }
}

fn briefing_text(subagent: &EventSubagent, id: &ConversationId) -> String {
    let one_line: String = subagent.sort.chars().filter(|c| !c.is_control()).take(64).collect();
    let id = ConversationId { source: id.source, native: subagent.id.clone() };
    match one_line.is_empty() {
        true => format!("Subagent {id}"),
        false => format!("Subagent {one_line} {id}"),
    }
}

/// Names the child that a subagent is: as much of the parent's name as there is room for, and digits of
/// its own.
pub fn child_names(parent: &AgentName, native: &str) -> [AgentName; NAMES] {
    let digits = id_digits(native);
    let name = |chars: usize, digits: &str| {
        let cut: String = parent.as_str().chars().take(chars).collect();
        let name = format!("{}.{digits}", cut.trim_end_matches('.'));
        AgentName::parse(&name).expect("a name cut short, a point and digits make a name")
    };
    [
        name(PARENT_CHARS_MAX, &digits.short),
        name(PARENT_CHARS_LESS, &digits.long),
        name(PARENT_CHARS_LEAST, &digits.whole),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_have_names_however_long_their_parents_are() {
        let long = format!("{}.{}", "a".repeat(53), "b".repeat(9));
        for (parent, short, more) in [
            ("fix-cart", "fix-cart.a4d2c8f1".to_owned(), "fix-cart.a4d2c8f1e0b3a297".to_owned()),
            (
                &long,
                format!("{}.a4d2c8f1", "a".repeat(53)),
                format!("{}.a4d2c8f1e0b3a297", "a".repeat(46)),
            ),
        ] {
            let parent = AgentName::parse(parent).expect("a name");
            let [first, second, third] = child_names(&parent, "a4d2c8f1e0b3a297");
            assert_eq!([first.to_string(), second.to_string()], [short, more]);
            assert_ne!(third, child_names(&parent, "A4d2c8f1e0b3a297")[2]);
        }
    }
}
