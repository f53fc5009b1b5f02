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

const DECOMPOSER: &str = "You split questions. The input has a question and how many parts it may \
have at most. Reply with one JSON list of texts and nothing else: questions that can be answered each \
by itself and that together answer the whole. One that has no parts is a list of itself.";

const SYNTHESIZER: &str = "You put answers together. The input has a question and the answers to its \
parts; a part with an error has none. Reply with one text that answers the question from them alone, \
and say what could not be answered.";

/// Returns the agents that a loop calls whatever its arguments say.
pub(crate) fn parts(of_loop: &AgentId) -> &'static [&'static str] {
    match of_loop.as_str() {
        "sibyl/tool_agent" => &[TOOL_STEP],
        "sibyl/supervisor" => &[RESEARCH, CRITIQUE, DECOMPOSE, SYNTHESIZE],
        _ => &[],
    }
}

/// Whether an agent is a model where the registry does not say who it is.
pub(crate) fn is_model(agent: &AgentId) -> bool {
    matches!(agent.as_str(), RESEARCH | CRITIQUE | TOOL_STEP)
}

/// Returns the role of an agent that comes with the loops.
pub(super) fn role(agent: &AgentId) -> Option<&'static str> {
    match agent.as_str() {
        RESEARCH => Some(RESEARCHER),
        CRITIQUE => Some(CRITIC),
        TOOL_STEP => Some(TOOL_USER),
        DECOMPOSE => Some(DECOMPOSER),
        SYNTHESIZE => Some(SYNTHESIZER),
        _ => None,
    }
}

/// Returns the JSON Schema of what the agent of a role replies; nothing where it is text.
///
/// Hosts may tell a model, and it is no part of the request: the reply is checked in any case.
pub fn reply_schema(agent: &str) -> Option<&'static str> {
    match agent {
        CRITIQUE => Some(
            r#"{"type":"object","properties":{"approved":{"type":"boolean"},"confidence":{"type":"number"},"feedback":{"type":"string"}},"required":["approved","confidence","feedback"]}"#,
        ),
        TOOL_STEP => Some(
            r#"{"type":"object","properties":{"action":{"type":"string","enum":["final","tool"]},"reasoning":{"type":"string"},"tool":{"type":"string"},"args":{"type":"object"},"answer":{"type":"string"}},"required":["action","reasoning"]}"#,
        ),
        DECOMPOSE => Some(r#"{"type":"array","items":{"type":"string"}}"#),
        _ => None,
    }
}

/// Makes the id of an agent that comes with the loops.
pub(crate) fn id(text: &str) -> AgentId {
    AgentId::parse(text).expect("ids of standard agents are well-formed")
}
