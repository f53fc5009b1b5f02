//! The JSON Schemas of the built-in object types, as JSON shows them. Unknown fields are kept, so
//! every schema allows more than it names.

use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

/// A link to another object: `{"/": "bafyr4i…"}`.
#[derive(Serialize, JsonSchema)]
struct Link {
    /// The id.
    #[serde(rename = "/")]
    cid: String,
}

/// What seeds an agent.
#[derive(Serialize, JsonSchema)]
struct Briefing {
    /// `briefing`.
    r#type: String,
    /// What the agent is asked to do.
    text: String,
}

/// What an agent saw and said up to a commit: its entries, or the parts that hold them.
#[derive(Serialize, JsonSchema)]
struct ConsoleTrace {
    /// `console-trace`.
    r#type: String,
    /// Whose trace it is.
    agent: String,
    /// The entries, oldest first.
    entries: Option<Vec<TraceEntry>>,
    /// Objects of the same type with the entries of a long trace.
    parts: Option<Vec<Link>>,
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
}

/// An asserted or retracted relation.
#[derive(Serialize, JsonSchema)]
struct Edge {
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

/// A content-addressed skill.
#[derive(Serialize, JsonSchema)]
struct Behaviour {
    /// `behaviour`.
    r#type: String,
    /// The language, such as `rhai`.
    language: String,
    /// The source.
    source: String,
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
    /// The long value that a piece belongs to.
    value: Option<Link>,
    /// The number of the piece.
    part: Option<i64>,
    /// The piece.
    bytes: Option<serde_json::Value>,
}

/// Returns the schemas: the name of the file under `schemas/`, and what belongs into it.
pub(crate) fn object_schemas() -> [(&'static str, Schema); 6] {
    [
        ("object-behaviour.json", schema_for!(Behaviour)),
        ("object-briefing.json", schema_for!(Briefing)),
        ("object-console-trace.json", schema_for!(ConsoleTrace)),
        ("object-edge.json", schema_for!(Edge)),
        ("object-session-segment.json", schema_for!(SessionSegment)),
        ("object-type.json", schema_for!(Type)),
    ]
}
