//! The events of opencode that mean something to the store, as our plugin passes them on.

use agentic_model::Map;

use super::{EventSubagent, HookMoment, TranscriptPath, fields};
use crate::{ConversationId, Source};

/// Names and meanings.
pub(super) const EVENTS: &[(&str, HookMoment)] = &[
    ("session.created", HookMoment::Begins),
    ("chat.message", HookMoment::Prompt),
    ("tool.execute.before", HookMoment::BeforeTool),
    ("permission.ask", HookMoment::Asked),
    ("tool.execute.after", HookMoment::AfterTool),
    ("session.idle", HookMoment::TurnEnds),
    ("session.error", HookMoment::TurnFails),
    ("session.compacted", HookMoment::Compaction),
    ("session.deleted", HookMoment::Ends),
];

/// Fields of them that are known, beside those of every source.
#[rustfmt::skip]
pub(super) const FIELDS: &[&str] = &[
    "message", "parts", "properties", "v", "worktree",
];

/// Tells who begins: a session with a parent is a subagent of that.
pub(super) fn begin(
    map: &Map,
    conversation: &mut Option<ConversationId>,
    subagent: &mut Option<EventSubagent>,
) {
    let info = map.get("properties").and_then(|properties| properties.get("info"));
    let Some(info) = info.and_then(|info| info.as_map()) else { return };
    let Some(parent) = fields::native_id(info, &["parentID", "parentId"]) else { return };
    let Some(own) = fields::native_id(info, &["id"]).or(conversation.take().map(|own| own.native))
    else {
        return;
    };
    let sort = fields::text(info, &["agent", "mode"]).unwrap_or_default().to_owned();
    *subagent =
        Some(EventSubagent { id: own, sort, parent: None, transcript: TranscriptPath::Unsaid });
    *conversation = Some(ConversationId { source: Source::Opencode, native: parent });
}
