//! Tasks and tools that the store performs which the session is in: what goes out is the request that
//! a flow makes.

use std::collections::BTreeMap;

use agentic_model::{Cid, StoreVerb, Value as Model, json as model_json};
use agentic_replay::{
    Path, ProgramEvent, RequestAnswer, StoreCall, TRACED, store_call, store_kind,
};

use crate::program::strand::CallPhase;

/// What the store performs for a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreHandlers {
    /// Tasks, by their names.
    pub tasks: BTreeMap<String, StoreVerb>,
    /// Tools of agents, by their names.
    pub tools: BTreeMap<String, StoreVerb>,
}

impl StoreHandlers {
    /// Finds those among handlers that are addresses such as `agentic://commit`.
    pub fn of(
        tasks: &BTreeMap<String, Vec<String>>,
        tools: &BTreeMap<String, Vec<String>>,
    ) -> StoreHandlers {
        StoreHandlers { tasks: verbs(tasks), tools: verbs(tools) }
    }
}

fn verbs(handlers: &BTreeMap<String, Vec<String>>) -> BTreeMap<String, StoreVerb> {
    let verb = |argv: &Vec<String>| match argv.as_slice() {
        [address] => StoreVerb::of_address(address),
        _ => None,
    };
    handlers.iter().filter_map(|(name, argv)| Some((name.clone(), verb(argv)?))).collect()
}

/// What is asked for a task or a tool.
#[derive(Debug, Clone)]
pub(super) struct AskedWork {
    pub kind: String,
    pub payload: Model,
    pub schema: Option<Cid>,
    pub phase: CallPhase,
    /// What is told at the same time.
    pub told: Option<ProgramEvent>,
}

impl AskedWork {
    /// Asks whoever performs a kind.
    pub fn new(kind: &str, payload: Model, phase: CallPhase) -> AskedWork {
        AskedWork { kind: kind.to_owned(), payload, schema: None, phase, told: None }
    }

    /// Asks the store. The fields are the arguments, which are JSON.
    pub fn of_store(verb: StoreVerb, args: &str, phase: CallPhase) -> AskedWork {
        // What does not fit into a request is refused by whoever reads it.
        let given = model_json::from_text(args);
        let given = given.unwrap_or_else(|_| Model::map([("args", Model::text(args))]));
        match store_call(verb, Path::root(), given) {
            Ok(StoreCall::Asked(request)) => {
                let schema = request.schema;
                AskedWork { schema, ..AskedWork::new(&request.kind, request.payload, phase) }
            }
            Ok(StoreCall::Told(event)) => {
                let work = AskedWork::new(TRACED, event.data.clone(), phase);
                AskedWork { told: Some(event), ..work }
            }
            Err(refusal) => {
                let refused = Model::map([("refused", Model::Text(refusal))]);
                AskedWork::new(store_kind(verb), refused, phase)
            }
        }
    }
}

/// Writes what the store answers as the JSON text that handlers give.
pub(super) fn as_text(answer: RequestAnswer) -> RequestAnswer {
    match answer {
        RequestAnswer::Ok(value) => RequestAnswer::Ok(Model::Text(model_json::to_text(&value))),
        other @ (RequestAnswer::Failed(_)
        | RequestAnswer::TimedOut
        | RequestAnswer::Cancelled(_)) => other,
    }
}
