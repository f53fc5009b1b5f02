//! What runs of programs come to.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::program::ProgramFindings;
use crate::view::{FlowStatusView, LoweredView, SessionView};

/// What a run of a program came to, or how it stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
// size: there is one at a time, on its way to whoever asked.
#[allow(clippy::large_enum_variant)]
pub enum RunAnswer {
    /// It is over.
    Ended(RunResultView),
    /// These are the results of the tests of a program of AgentLang.
    Tests(TestsView),
    /// It is a pipeline as it runs; nothing ran.
    Lowered(LoweredView),
    /// It is a durable run of a pipeline that waits.
    Standing(FlowStatusView),
    /// It is another session that waits.
    Session(SessionView),
    /// Something is wrong with the program; nothing ran.
    Faulty(ProgramFindings),
}

/// The results of tests.
#[derive(Debug)]
pub struct TestsView {
    /// For people.
    pub text: String,
    /// As JSON: `tests` with `name`, `passed` and `error` each, `passed`, `failed` and `total`.
    pub results: serde_json::Value,
}

impl Serialize for TestsView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.results.serialize(serializer)
    }
}

impl JsonSchema for TestsView {
    fn schema_name() -> Cow<'static, str> {
        "TestsView".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        serde_json::Value::json_schema(generator)
    }
}

/// What a run came to. Each language has its own form of it, and some have one for people.
#[derive(Debug)]
pub struct RunResultView {
    /// For people, who see nothing where it failed.
    pub text: String,
    /// As JSON, laid out as the language does that.
    pub json: String,
}

impl Serialize for RunResultView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.json.clone()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl JsonSchema for RunResultView {
    fn schema_name() -> Cow<'static, str> {
        "RunResultView".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        serde_json::Value::json_schema(generator)
    }
}
