//! The roles of the agents that come with the loops, in our own words.

use agentic_plan::AgentId;

pub(super) const RESEARCH: &str = "sibyl/research";
pub(super) const CRITIQUE: &str = "sibyl/critique";
pub(super) const TOOL_STEP: &str = "sibyl/tool_step";
pub(super) const DECOMPOSE: &str = "sibyl/decompose";
pub(super) const SYNTHESIZE: &str = "sibyl/synthesize";

const RESEARCHER: &str = "You answer questions with care. The input has a question, your previous \
answer and a critic's feedback on it; both are empty in the first round. Answer concisely, say only \
what you can stand by, and mend what the feedback names. Reply with the text of the answer alone.";

const CRITIC: &str = "You judge answers strictly. The input has a question, an answer and the number \
of the round. Look for errors, gaps and unfounded claims. Reply with one JSON object and nothing \
else: {\"approved\": true or false, \"confidence\": a number from 0 to 1, \"feedback\": what to mend}.";

const TOOL_USER: &str = "You work on a task step by step. The input has the task, the tools you may \
use with their arguments, and the steps so far with their results. Reply with one JSON object and \
nothing else: {\"action\": \"tool\", \"reasoning\": why, \"tool\": its name, \"args\": an object} to use a \
tool, or {\"action\": \"final\", \"reasoning\": why, \"answer\": the answer} when you are done.";

/// Returns the role of an agent that is a model unless the registry says otherwise.
pub(super) fn system(agent: &AgentId) -> Option<&'static str> {
    match agent.as_str() {
        RESEARCH => Some(RESEARCHER),
        CRITIQUE => Some(CRITIC),
        TOOL_STEP => Some(TOOL_USER),
        _ => None,
    }
}

/// Makes the id of an agent that comes with the loops.
pub(super) fn id(text: &str) -> AgentId {
    AgentId::parse(text).expect("ids of standard agents are well-formed")
}
