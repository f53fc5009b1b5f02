//! The JSON Schemas of the built-in object types, as JSON shows them. Unknown fields are kept, so
//! every schema allows more than it names.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use super::peer_schema::{AcceptRecordSchema, AnnouncementSchema, IdentitySchema, ProjectSchema};

/// A link to another object: `{"/": "bafyr4i…"}`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Link")]
pub(super) struct LinkSchema {
    /// The id.
    #[serde(rename = "/")]
    cid: String,
}

/// What seeds an agent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Briefing")]
struct BriefingSchema {
    /// `briefing`.
    r#type: String,
    /// What the agent is asked to do.
    text: String,
}

/// What an agent saw and said up to a commit: its entries, or the parts that hold them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ConsoleTrace")]
struct ConsoleTraceSchema {
    /// `console-trace`.
    r#type: String,
    /// Whose trace it is.
    agent: String,
    /// The entries, oldest first.
    entries: Option<Vec<TraceEntry>>,
    /// Objects of the same type with the entries of a long trace.
    parts: Option<Vec<LinkSchema>>,
    /// The trace that was bound before this one and goes on in it.
    previous: Option<LinkSchema>,
    /// Which conversations the entries come from, and how far each was read.
    captured: Option<Vec<BTreeMap<String, serde_json::Value>>>,
}

/// One line of a trace.
#[derive(Serialize, JsonSchema)]
struct TraceEntry {
    /// What sort of thing happened.
    kind: String,
    /// When, in milliseconds since 1970.
    at: i64,
    /// Text, or bytes as `{"/": {"bytes": …}}`.
    body: serde_json::Value,
    /// Whether the next entry continues this one.
    continues: Option<bool>,
    /// What is known about the entry beside its text, where it was captured.
    meta: Option<BTreeMap<String, serde_json::Value>>,
}

/// An asserted or retracted relation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Edge")]
struct EdgeSchema {
    /// `edge`.
    r#type: String,
    /// An agent, or `user:NAME`.
    source: String,
    /// Such as `reviews`.
    relation: String,
    /// An agent, `user:NAME` or `branch:NAME`.
    target: String,
    /// `assert` or `retract`.
    event: String,
    /// When, in milliseconds since 1970.
    at: i64,
}

/// A registered kind.
#[derive(Serialize, JsonSchema)]
struct Type {
    /// `type`.
    r#type: String,
    /// Its name.
    name: String,
    /// The kind it specialises.
    parent: Option<String>,
    /// One line for people.
    description: Option<String>,
    /// A JSON Schema for its open fields.
    schema: Option<serde_json::Value>,
}

/// A content-addressed skill: a flow, or a prompt.
#[derive(Serialize, JsonSchema)]
struct Behaviour {
    /// `behaviour`.
    r#type: String,
    /// `prompt`; a flow has none.
    kind: Option<String>,
    /// The language of a flow, such as `rhai`.
    language: Option<String>,
    /// The source as text; of a long pipeline the links to its pieces, which are objects of the type
    /// `behaviour-part`.
    source: serde_json::Value,
    /// What the builtins of a pipeline mean; of a long registry the links to its pieces.
    registry: Option<serde_json::Value>,
    /// The flows that it imports, as links, by the names that it has for them.
    modules: Option<BTreeMap<String, serde_json::Value>>,
    /// A JSON Schema for its input.
    input_schema: Option<serde_json::Value>,
    /// The kinds of effects that it may be granted at most.
    allow: Option<Vec<String>>,
}

/// A piece of a skill that is too long for one object.
#[derive(Serialize, JsonSchema)]
struct BehaviourPart {
    /// `behaviour-part`.
    r#type: String,
    /// The piece: `{"/": {"bytes": …}}`.
    bytes: serde_json::Value,
}

/// A permission that a peer has. One without `v`, as it once was, grants nothing.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Capability")]
struct CapabilitySchema {
    /// `capability`.
    r#type: String,
    /// 1.
    v: i64,
    /// The project.
    project: LinkSchema,
    /// The peer that gives it.
    issuer: LinkSchema,
    /// The peer that has it.
    peer: LinkSchema,
    /// For which kinds, and those below them.
    kinds: Vec<String>,
    /// For what; with `!` something may run of it.
    triggers: Vec<String>,
    /// For which agents, as patterns; all without.
    agents: Option<Vec<String>>,
    /// From when on, in milliseconds.
    since: Option<i64>,
    /// Until when, in milliseconds.
    until: Option<i64>,
    /// How often it may be given on: 0 to 3.
    delegate: u64,
    /// The capability that it is given on from.
    parent: Option<LinkSchema>,
    /// Random bytes.
    nonce: serde_json::Value,
}

/// A closed, valid graph of steps.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Plan")]
struct PlanSchema {
    /// `plan`.
    r#type: String,
    /// 1.
    v: i64,
    /// `memory` or `temporal`.
    backend: String,
    /// `static` or `dynamic`.
    mode: String,
    /// Its nodes, at most 2,000.
    nodes: Vec<PlanNode>,
    /// The nodes without requirements, in the order of nodes.
    entry: Vec<String>,
    /// The node whose output is the result.
    exit: String,
}

/// A node of a plan. What is empty is left out.
#[derive(Serialize, JsonSchema)]
struct PlanNode {
    /// Its name: a letter, then letters, digits, `_` and `-`.
    id: String,
    /// `activity`, `workflow`, `hold`, `join` or `dynamic`.
    kind: String,
    /// The agent that is called; joins have none.
    activity: Option<String>,
    /// The bound parameters.
    params: Option<serde_json::Map<String, serde_json::Value>>,
    /// The values beyond the parameters.
    args: Option<Vec<serde_json::Value>>,
    /// The nodes whose outputs it takes: two or more for a join, else one at most.
    requires: Option<Vec<String>>,
    /// How a failed call is tried again.
    retry: Option<PlanRetry>,
    /// How long an attempt may take, in milliseconds.
    timeout_ms: Option<u64>,
    /// Advice about credentials.
    auth: Option<serde_json::Value>,
}

/// How a failed call is tried again.
#[derive(Serialize, JsonSchema)]
struct PlanRetry {
    /// How often it is tried at most.
    max_attempts: u64,
    /// The first pause, in milliseconds.
    initial_ms: u64,
    /// How much longer each further pause is.
    backoff: f64,
    /// The longest pause, in milliseconds.
    max_interval_ms: Option<u64>,
    /// Codes of failures that are final.
    non_retryable: Option<Vec<String>>,
}

/// Where the nodes of a plan stand in their source.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SourceMap")]
struct SourceMapSchema {
    /// `source-map`.
    r#type: String,
    /// The plan.
    plan: LinkSchema,
    /// Line, column, and the line and column just after the end, from 1, by node.
    nodes: BTreeMap<String, [u32; 4]>,
}

/// A rule file that queries use.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rules")]
struct RulesSchema {
    /// `rules`.
    r#type: String,
    /// `datalog-1`.
    language: String,
    /// The text.
    source: String,
    /// The stored rules that it uses, by the names that it has for them.
    uses: BTreeMap<String, LinkSchema>,
}

/// Commits that became another one, by an amend, a rebase or a history filter.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rewrite")]
struct RewriteSchema {
    /// `rewrite`.
    r#type: String,
    /// The commits that were rewritten, 1 to 1,024.
    from: Vec<String>,
    /// What they became.
    to: String,
    /// Who said so, such as `post-rewrite amend`.
    by: String,
}

/// A sealed part of a session: records, or a piece of a long value.
#[derive(Serialize, JsonSchema)]
struct SessionSegment {
    /// `session-segment`.
    r#type: String,
    /// The session.
    session: String,
    /// The position of the first record.
    from: Option<i64>,
    /// The records, each as bytes.
    records: Option<Vec<serde_json::Value>>,
    /// Many records, compressed, in their place.
    block: Option<serde_json::Value>,
    /// How many records the block has.
    count: Option<i64>,
    /// The hash of the last record of the block.
    head: Option<serde_json::Value>,
    /// The long value that a piece belongs to.
    value: Option<LinkSchema>,
    /// The number of the piece.
    part: Option<i64>,
    /// The piece.
    bytes: Option<serde_json::Value>,
}

/// What was purged, and what stands in its place.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tombstone")]
struct TombstoneSchema {
    /// `tombstone`.
    r#type: String,
    /// The ids that are gone, 1 to 4,096.
    purged: Vec<String>,
    /// What stands in the place of those that have something there.
    replaced: Option<BTreeMap<String, String>>,
    /// The entries of traces that lack something now.
    entries: Vec<String>,
    /// The rule that found the values, if one did.
    rule: Option<String>,
    /// Why.
    reason: String,
    /// Who did it.
    by: String,
    /// When, in milliseconds.
    at: i64,
}

/// Returns the schemas: the name of the file under `schemas/`, and what belongs into it.
pub(crate) fn object_schemas() -> [(&'static str, Schema); 17] {
    [
        ("object-accept-record.json", schema_for!(AcceptRecordSchema)),
        ("object-announcement.json", schema_for!(AnnouncementSchema)),
        ("object-behaviour.json", schema_for!(Behaviour)),
        ("object-behaviour-part.json", schema_for!(BehaviourPart)),
        ("object-briefing.json", schema_for!(BriefingSchema)),
        ("object-capability.json", schema_for!(CapabilitySchema)),
        ("object-console-trace.json", schema_for!(ConsoleTraceSchema)),
        ("object-edge.json", schema_for!(EdgeSchema)),
        ("object-identity.json", schema_for!(IdentitySchema)),
        ("object-plan.json", schema_for!(PlanSchema)),
        ("object-project.json", schema_for!(ProjectSchema)),
        ("object-rewrite.json", schema_for!(RewriteSchema)),
        ("object-rules.json", schema_for!(RulesSchema)),
        ("object-session-segment.json", schema_for!(SessionSegment)),
        ("object-source-map.json", schema_for!(SourceMapSchema)),
        ("object-tombstone.json", schema_for!(TombstoneSchema)),
        ("object-type.json", schema_for!(Type)),
    ]
}
