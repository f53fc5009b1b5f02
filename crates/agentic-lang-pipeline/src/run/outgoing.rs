//! What a call looks like from outside: the requests that hosts perform.

use std::sync::Arc;

use agentic_model::{Cid, Map, StoreVerb, Value};
use agentic_plan::{AgentId, CallEffect, Implementation, NodeId, NodeWork, text_of};
use agentic_replay::{
    EffectClass, HOLD, Handling, KindRule, Kinds, Path, ProgramEvent, Request, SLEEP, StoreCall,
    TRACED, store_call,
};

use crate::run::prepare::PreparedPlan;
use crate::run::prompts;
use crate::run::task::PipelineWorld;

/// The sorts of requests that pipelines make. What a registry declares about repeating a call is
/// part of the kind of its requests (`native.pure`, `exec.read`), because hosts decide by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    /// A function of the host: `function` and `call`.
    Native,
    /// A program: `argv` and `call`; the call goes to its standard input.
    Executable,
    /// An HTTP endpoint: `url`, `method` and `call`; the call is the body.
    Endpoint,
    /// A session of its own on a branch of its own: `from`, `briefing`, `suffix` of the branch's
    /// name, `allow`, `input`, and the `flow` or the `program` that runs.
    Spawn,
    /// An agent that the host knows by its id: `call`.
    Agent,
    /// A model: `system` says its role, `model` perhaps which it is, the input in `call` is what it
    /// works on.
    Model,
    /// A decision: `question`, `choices`, `input`, `on_timeout` and perhaps `deadline`.
    Hold,
    /// A pause until an instant.
    Sleep,
}

/// All sorts, with their names.
const REQUEST_KINDS: [(RequestKind, &str); 8] = [
    (RequestKind::Native, "native"),
    (RequestKind::Executable, "exec"),
    (RequestKind::Endpoint, "endpoint"),
    (RequestKind::Spawn, "spawn"),
    (RequestKind::Agent, "agent"),
    (RequestKind::Model, "model"),
    (RequestKind::Hold, HOLD),
    (RequestKind::Sleep, SLEEP),
];

impl RequestKind {
    /// Returns the kind without what is declared about repeating.
    pub fn as_str(self) -> &'static str {
        let found = REQUEST_KINDS.iter().find(|(kind, _)| *kind == self);
        found.map(|(_, name)| *name).expect("every sort has a name")
    }

    /// Finds the sort of a request.
    pub fn of(request: &Request) -> Option<RequestKind> {
        let (base, effect) = match request.kind.split_once('.') {
            Some((base, effect)) => (base, Some(effect)),
            None => (request.kind.as_str(), None),
        };
        let is_known = effect.is_none_or(|effect| CallEffect::parse(effect).is_some());
        let found = REQUEST_KINDS.iter().find(|(_, name)| *name == base);
        found.filter(|_| is_known).map(|(kind, _)| *kind)
    }
}

/// Tells a host about the kinds of requests that pipelines make. Those it knows already stay as
/// they are.
pub fn add_kinds(kinds: &mut Kinds) {
    let callable = &REQUEST_KINDS[..6];
    let effects = [
        (CallEffect::Pure, EffectClass::Pure),
        (CallEffect::Read, EffectClass::Read),
        (CallEffect::Idempotent, EffectClass::Idempotent),
        (CallEffect::Once, EffectClass::Once),
    ];
    for (_, name) in callable {
        for (effect, class) in effects {
            let kind = format!("{name}.{}", effect.as_str());
            kinds.set(kind, KindRule::new(Handling::Effect(class)));
        }
    }
}

/// Where a call comes from.
#[derive(Debug, Clone)]
pub(super) struct CallOrigin {
    pub plan: Arc<Cid>,
    pub node: NodeId,
    pub requires: Option<NodeId>,
}

/// A call that is ready to be made, as often as it takes. Its request is made anew for every
/// attempt; what is shared until then is not copied.
pub(super) struct OutgoingCall {
    agent: AgentId,
    origin: CallOrigin,
    arguments: Arguments,
    input: Arc<Value>,
    key: Option<String>,
}

/// What goes out for one attempt.
pub(super) struct OutgoingAttempt {
    pub request: Request,
    /// What is told at the same time.
    pub told: Option<ProgramEvent>,
}

/// What a call passes beside its input.
pub(super) enum Arguments {
    /// Nothing.
    None,
    /// These parameters.
    Params(Map),
    /// What a node of a plan says.
    Node(Arc<PreparedPlan>, usize),
}

impl OutgoingCall {
    /// Addresses a call to an agent.
    pub fn new(
        origin: CallOrigin,
        agent: AgentId,
        input: Arc<Value>,
        arguments: Arguments,
    ) -> OutgoingCall {
        OutgoingCall { agent, origin, arguments, input, key: None }
    }

    /// Returns whom it is for.
    pub fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// Returns where it comes from.
    pub fn origin(&self) -> &CallOrigin {
        &self.origin
    }

    /// Makes what goes out for one attempt, the way the registry says.
    pub fn attempt(&mut self, world: &PipelineWorld, path: Path, attempt: u64) -> OutgoingAttempt {
        let spec = world.registry.by_agent(&self.agent);
        if let Some(Implementation::Store(verb)) = spec.and_then(|spec| spec.run.as_ref()) {
            return self.of_store(*verb, path);
        }
        OutgoingAttempt { request: self.request(world, path, attempt), told: None }
    }

    /// Asks the store, as a flow does. What flows in is told by `trace`; else it gives the fields that
    /// the parameters do not.
    fn of_store(&self, verb: StoreVerb, path: Path) -> OutgoingAttempt {
        let given = match verb {
            StoreVerb::Trace => self.input.as_ref().clone(),
            StoreVerb::Commit
            | StoreVerb::Hold
            | StoreVerb::Pending
            | StoreVerb::Query
            | StoreVerb::Relate
            | StoreVerb::Spawn => Value::Map(self.store_fields(verb)),
        };
        let origin = Some(Arc::clone(&self.origin.plan));
        match store_call(verb, path.clone(), given) {
            Ok(StoreCall::Asked(request)) => {
                OutgoingAttempt { request: Request { origin, ..*request }, told: None }
            }
            Ok(StoreCall::Told(event)) => {
                let request = Request::new(path, TRACED, event.data.clone());
                OutgoingAttempt { request: Request { origin, ..request }, told: Some(event) }
            }
            Err(_) => unreachable!("BUG: a map of fields is a call"),
        }
    }

    fn store_fields(&self, verb: StoreVerb) -> Map {
        let mut fields = self.arguments.get().0.cloned().unwrap_or_default();
        match self.input.as_ref() {
            Value::Null => {}
            Value::Map(input) => {
                let known = verb.fields().iter().filter_map(|name| input.get_key_value(*name));
                let missing = known.filter(|(name, _)| !fields.contains_key(*name));
                let missing: Vec<_> =
                    missing.map(|(name, value)| (name.clone(), value.clone())).collect();
                fields.extend(missing);
            }
            other @ (Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Link(_)) => {
                if let Some(meant) = verb.meant_field() {
                    fields.entry(meant.to_owned()).or_insert_with(|| Value::Text(text_of(other)));
                }
            }
        }
        fields
    }

    fn request(&mut self, world: &PipelineWorld, path: Path, attempt: u64) -> Request {
        let key = self.key.get_or_insert_with(|| path.as_str().to_owned());
        let mut call = Map::from([
            ("agent".to_owned(), Value::text(self.agent.as_str())),
            ("attempt".to_owned(), Value::Int(i64::try_from(attempt).unwrap_or(i64::MAX))),
            ("input".to_owned(), self.input.as_ref().clone()),
            ("key".to_owned(), Value::text(key.as_str())),
            ("node".to_owned(), Value::text(self.origin.node.as_str())),
        ]);
        if let Some(requires) = &self.origin.requires {
            call.insert("requires".to_owned(), Value::text(requires.as_str()));
        }
        if let Some(person) = &world.invoked_by {
            call.insert("invoked_by".to_owned(), Value::text(person));
        }
        let (params, args) = self.arguments.get();
        if let Some(params) = params.filter(|params| !params.is_empty()) {
            call.insert("params".to_owned(), Value::Map(params.clone()));
        }
        if !args.is_empty() {
            call.insert("args".to_owned(), Value::List(args.to_vec()));
        }
        let spec = world.registry.by_agent(&self.agent);
        let role = prompts::role(&self.agent);
        let (kind, payload) = match spec.and_then(|spec| spec.run.as_ref()) {
            Some(run) => addressed(run, role, &path, call),
            None => match role.filter(|_| spec.is_none() && prompts::is_model(&self.agent)) {
                Some(role) => (RequestKind::Model, around(call, [("system", Value::text(role))])),
                None => (RequestKind::Agent, around(call, [])),
            },
        };
        let kind = match spec.and_then(|spec| spec.effect) {
            // A session of its own has its own records: asking for it again finds it.
            Some(effect) if kind != RequestKind::Spawn => {
                format!("{}.{}", kind.as_str(), effect.as_str())
            }
            Some(_) | None => kind.as_str().to_owned(),
        };
        Request { origin: Some(Arc::clone(&self.origin.plan)), ..Request::new(path, kind, payload) }
    }
}

impl Arguments {
    fn get(&self) -> (Option<&Map>, &[Value]) {
        match self {
            Arguments::None => (None, &[]),
            Arguments::Params(params) => (Some(params), &[]),
            Arguments::Node(prepared, index) => match &prepared.plan.nodes()[*index].work {
                NodeWork::Call(call) => (Some(&call.params), &call.args),
                NodeWork::Join => (None, &[]),
            },
        }
    }
}

/// Returns the kind and the payload of a call to whoever performs it.
fn addressed(
    run: &Implementation,
    role: Option<&str>,
    path: &Path,
    call: Map,
) -> (RequestKind, Value) {
    match run {
        Implementation::Model { model, system } => {
            let system = system.as_deref().or(role).map(|system| ("system", Value::text(system)));
            let head = [("model", Value::text(model))].into_iter().chain(system);
            (RequestKind::Model, around(call, head))
        }
        Implementation::Store(_) => unreachable!("BUG: the store is asked in its own way"),
        Implementation::Native(name) => {
            (RequestKind::Native, around(call, [("function", Value::text(name))]))
        }
        Implementation::Executable { argv } => {
            let argv = argv.iter().map(Value::text).collect();
            (RequestKind::Executable, around(call, [("argv", Value::List(argv))]))
        }
        Implementation::Endpoint { url, method } => {
            let head = [("url", Value::text(url)), ("method", Value::text(method))];
            (RequestKind::Endpoint, around(call, head))
        }
        Implementation::Agent { name, flow } => {
            let briefing = format!("Do what `{name}` does, for the call at `{path}`");
            let flow = flow.map(|flow| ("flow", Value::text(flow.to_string())));
            let more = [("from", Value::text(name.as_str())), ("input", Value::Map(call))];
            let more = more.into_iter().chain(flow);
            (RequestKind::Spawn, spawn_payload(path, briefing, more))
        }
    }
}

fn around<'k>(call: Map, head: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    Value::map(head.into_iter().chain([("call", Value::Map(call))]))
}

/// Makes the payload that spawns an agent and runs something as it. What the run may do, it may.
pub(super) fn spawn_payload<'k>(
    path: &Path,
    briefing: String,
    more: impl IntoIterator<Item = (&'k str, Value)>,
) -> Value {
    let suffix = path.as_str().replace('/', "-");
    let common = [
        ("allow", Value::List(vec![Value::text("*")])),
        ("briefing", Value::Text(briefing)),
        ("suffix", Value::Text(suffix)),
    ];
    Value::map(common.into_iter().chain(more))
}
