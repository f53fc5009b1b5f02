//! The builtins that every installation has: plain text natives, the three loops and the hold.

use agentic_model::Value;

use crate::agent::{AgentId, CallEffect, Implementation};
use crate::node::Backend;
use crate::registry::{
    AgentParameter, ArgSchema, BuiltinKind, BuiltinSpec, ParameterType, Registry,
};

/// Makes the registry of the standard builtins.
pub fn standard_registry() -> Registry {
    let mut registry = Registry::default();
    for spec in natives().into_iter().chain(loops()).chain([hold()]) {
        registry.register(spec).expect("standard builtins are well-formed and distinct");
    }
    registry
}

fn natives() -> Vec<BuiltinSpec> {
    let text = |name: &str| AgentParameter::new(name, ParameterType::String);
    vec![
        native("echo", "Gives its text and its input.", vec![text("text").optional()]),
        native("upper", "Gives its input in upper case.", vec![]),
        native("wrap", "Puts two texts around its input.", vec![text("left"), text("right")]),
        native(
            "repeat",
            "Repeats its input.",
            vec![
                AgentParameter::new("times", ParameterType::Int).between(1.0, 8.0),
                text("sep").with_default(Value::text(",")),
            ],
        ),
        native(
            "pick",
            "Gives one item of a tuple.",
            vec![AgentParameter::new("index", ParameterType::Int).between(0.0, 2_000.0)],
        ),
        BuiltinSpec {
            schema: ArgSchema { params: vec![text("sep")], variadic: Some(ParameterType::String) },
            ..native("concat", "Joins the texts of a tuple.", vec![])
        },
    ]
}

fn native(name: &str, description: &str, params: Vec<AgentParameter>) -> BuiltinSpec {
    BuiltinSpec {
        description: description.to_owned(),
        schema: ArgSchema { params, variadic: None },
        backends: vec![Backend::Memory, Backend::Temporal],
        run: Some(Implementation::Native(name.to_owned())),
        effect: Some(CallEffect::Pure),
        ..BuiltinSpec::new(name, agent(&format!("agentscript/{name}")))
    }
}

fn loops() -> Vec<BuiltinSpec> {
    let text = |name: &str| AgentParameter::new(name, ParameterType::String).optional();
    let count = |name: &str, default: i64, max: f64| {
        AgentParameter::new(name, ParameterType::Int)
            .with_default(Value::Int(default))
            .between(1.0, max)
    };
    let reference = |name: &str, agent: &str| {
        AgentParameter::new(name, ParameterType::Ref).with_default(Value::text(agent))
    };
    let tools = AgentParameter::new("tools", ParameterType::List(Box::new(ParameterType::Ref)));
    vec![
        workflow(
            "converge",
            "Researches and criticises in turn until the critic approves.",
            vec![
                text("question"),
                reference("researcher", "sibyl/research"),
                reference("critic", "sibyl/critique"),
                count("max_rounds", 5, 50.0),
            ],
        ),
        workflow(
            "tool_agent",
            "Lets a model work on a task with tools.",
            vec![
                text("task"),
                tools.with_default(Value::List(Vec::new())),
                count("max_steps", 10, 100.0),
            ],
        ),
        workflow(
            "supervisor",
            "Splits a question, works on the parts at once and puts the answers together.",
            vec![
                text("question"),
                count("max_subquestions", 5, 20.0),
                count("max_rounds_per_child", 3, 50.0),
            ],
        ),
    ]
}

fn workflow(name: &str, description: &str, params: Vec<AgentParameter>) -> BuiltinSpec {
    BuiltinSpec {
        description: description.to_owned(),
        kind: BuiltinKind::Workflow,
        schema: ArgSchema { params, variadic: None },
        backends: vec![Backend::Memory, Backend::Temporal],
        ..BuiltinSpec::new(name, agent(&format!("sibyl/{name}")))
    }
}

fn hold() -> BuiltinSpec {
    let choice = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let on_timeout = AgentParameter {
        one_of: Some(choice(&["fail", "accept", "reject"])),
        ..AgentParameter::new("on_timeout", ParameterType::String).with_default(Value::text("fail"))
    };
    let timeout = AgentParameter {
        min: Some(1.0),
        ..AgentParameter::new("timeout_s", ParameterType::Int).optional()
    };
    let choices =
        AgentParameter::new("choices", ParameterType::List(Box::new(ParameterType::String)))
            .with_default(Value::List(vec![Value::text("accept"), Value::text("reject")]));
    BuiltinSpec {
        description: "Waits for a human's decision.".to_owned(),
        kind: BuiltinKind::Hold,
        schema: ArgSchema {
            params: vec![
                AgentParameter::new("question", ParameterType::String),
                choices,
                timeout,
                on_timeout,
            ],
            variadic: None,
        },
        backends: vec![Backend::Temporal],
        ..BuiltinSpec::new("hold", agent("sibyl/hold"))
    }
}

fn agent(id: &str) -> AgentId {
    AgentId::parse(id).expect("ids of standard agents are well-formed")
}
