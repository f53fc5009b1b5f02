//! What programs of any language may ask of the store that their session is in.
//!
//! Each language has its own way to call it; what goes out is one request, the same as a flow makes.

use agentic_model::{Map, StoreVerb, Value};

use crate::{HOLD, Path, ProgramEvent, Request, schema};

/// The kind of a request for the agent's open holds.
pub const PENDING: &str = "pending";
/// The kind of a request for the answers of a query.
pub const QUERY: &str = "query";
/// The kind of a request for a relation.
pub const RELATE: &str = "relate";
/// The kind of a request that keeps a proposed version of a behaviour.
pub const BEHAVIOUR_PROPOSE: &str = "behaviour-propose";
/// The kind of a request that adopts a version which a person approved.
pub const BEHAVIOUR_ADOPT: &str = "behaviour-adopt";
/// The kind of the request that stands for an entry of the trace, where a language has no call without a
/// request. It is answered with its payload.
pub const TRACED: &str = "traced";

/// The kind of the event that a trace entry is.
const TRACE: &str = "trace-entry";

/// The fields of a relation that is given as three texts.
const RELATION: [&str; 3] = ["source", "relation", "target"];

/// What a call comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum StoreCall {
    /// A request at its path.
    Asked(Box<Request>),
    /// An entry of the trace, which nobody answers.
    Told(ProgramEvent),
}

/// Makes what a call comes to. A single text stands for the field that it means, three texts for the
/// ends of a relation, nothing for no fields.
///
/// # Errors
/// Fails when the verb cannot be called with that; with a map it always can.
pub fn store_call(verb: StoreVerb, path: Path, given: Value) -> Result<StoreCall, String> {
    if verb == StoreVerb::Trace {
        let data = alone(given);
        return Ok(StoreCall::Told(ProgramEvent { kind: TRACE.to_owned(), data }));
    }
    let mut payload = fields(verb, given)?;
    let mut schema = None;
    if verb == StoreVerb::Hold
        && let Some(wanted) = payload.remove("schema")
    {
        payload.insert("schema".to_owned(), schema::shape(&wanted));
        schema = Some(schema::cid(&wanted));
    }
    let request = Request::new(path, store_kind(verb), Value::Map(payload));
    Ok(StoreCall::Asked(Box::new(Request { schema, ..request })))
}

/// Returns the kind of the requests of a verb.
pub fn store_kind(verb: StoreVerb) -> &'static str {
    match verb {
        StoreVerb::Commit => "commit",
        StoreVerb::Hold => HOLD,
        StoreVerb::Pending => PENDING,
        StoreVerb::Query => QUERY,
        StoreVerb::Relate => RELATE,
        StoreVerb::Spawn => "spawn",
        StoreVerb::Trace => TRACED,
    }
}

/// Returns the only item of a list, and any other value as it is.
fn alone(mut given: Value) -> Value {
    if let Value::List(items) = &mut given
        && items.len() == 1
    {
        return items.remove(0);
    }
    given
}

fn fields(verb: StoreVerb, given: Value) -> Result<Map, String> {
    match (given, verb.meant_field()) {
        (Value::Map(fields), _) => Ok(fields),
        (Value::Null, _) => Ok(Map::new()),
        (Value::List(items), _) if items.is_empty() => Ok(Map::new()),
        (Value::List(mut items), _) if items.len() == 1 => fields(verb, items.remove(0)),
        (Value::List(items), _)
            if verb == StoreVerb::Relate
                && items.len() == RELATION.len()
                && items.iter().all(|item| item.as_text().is_some()) =>
        {
            Ok(RELATION.into_iter().map(str::to_owned).zip(items).collect())
        }
        (text @ Value::Text(_), Some(field)) => Ok(Map::from([(field.to_owned(), text)])),
        (given, _) => {
            let (name, given) = (verb.name(), given.variant());
            Err(format!("`{name}` takes a map of its fields, not {given}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use agentic_model::json;

    use super::*;

    fn asked(verb: &str, given: &str) -> Result<String, String> {
        let given = json::from_text(given).expect("the case is JSON");
        let verb = StoreVerb::parse(verb).expect("the verb is known");
        match store_call(verb, Path::root(), given) {
            Ok(StoreCall::Asked(request)) => {
                Ok(format!("{} {}", request.kind, json::to_text(&request.payload)))
            }
            Ok(StoreCall::Told(event)) => Ok(format!("told {}", json::to_text(&event.data))),
            Err(refusal) => Err(refusal),
        }
    }

    #[test]
    fn a_call_makes_the_request_of_a_flow() {
        for (verb, given, wanted) in [
            ("commit", r#""Say it""#, r#"commit {"message":"Say it"}"#),
            ("commit", r#"["Say it"]"#, r#"commit {"message":"Say it"}"#),
            ("commit", r#"{"message":"m","files":{}}"#, r#"commit {"files":{},"message":"m"}"#),
            ("hold", r#""Go?""#, r#"hold {"question":"Go?"}"#),
            ("pending", "null", "pending {}"),
            ("pending", "[]", "pending {}"),
            ("query", r#""?- agent(A).""#, r#"query {"text":"?- agent(A)."}"#),
            (
                "relate",
                r#"["a","reviews","b"]"#,
                r#"relate {"relation":"reviews","source":"a","target":"b"}"#,
            ),
            ("spawn", r#""Look""#, r#"spawn {"briefing":"Look"}"#),
            ("trace", r#"["said"]"#, r#"told "said""#),
        ] {
            assert_eq!(asked(verb, given).as_deref(), Ok(wanted), "{verb} {given}");
        }
    }

    #[test]
    fn a_call_without_sense_is_refused() {
        for (verb, given) in
            [("commit", "3"), ("commit", r#"["a","b"]"#), ("relate", r#""a""#), ("query", "true")]
        {
            assert!(asked(verb, given).is_err(), "{verb} {given}");
        }
    }

    #[test]
    fn a_hold_is_bound_to_the_shape_of_its_schema() {
        let given = r#"{"question":"q","schema":{"type":"string","title":"T"}}"#;
        let given = json::from_text(given).expect("it is JSON");
        let called = store_call(StoreVerb::Hold, Path::root(), given);
        let Ok(StoreCall::Asked(request)) = called else { panic!("it asks") };
        assert_eq!(
            json::to_text(&request.payload),
            r#"{"question":"q","schema":{"type":"string"}}"#
        );
        assert!(request.schema.is_some());
    }
}
