//! Registries as JSON in.

use agentic_model::Value;

use crate::agent::{AgentId, CallEffect, Implementation};
use crate::draft::DURATION_MS_MAX;
use crate::fields::{PlanFields, ShapeError};
use crate::node::{Backend, RetryLimits};
use crate::registry::schema::Presence;
use crate::registry::{
    AgentParameter, ArgSchema, AuthSource, BUILTINS_MAX, BuiltinKind, BuiltinSpec, ParameterType,
    Registry, RegistryError, ValueShape, VerdictQuestion,
};

impl Registry {
    /// Reads a registry from data: a map with the list `builtins`.
    ///
    /// # Errors
    /// Fails on entries that are ill-shaped or refused.
    pub fn from_value(value: &Value) -> Result<Registry, RegistryError> {
        let fields = PlanFields::of(value, "")?;
        fields.only(&["builtins", "comment"])?;
        let builtins =
            fields.optional_list("builtins")?.ok_or_else(|| fields.wrong("builtins", "a list"))?;
        if builtins.len() > BUILTINS_MAX {
            return Err(RegistryError::TooMany);
        }
        let mut registry = Registry::default();
        for (index, entry) in builtins.iter().enumerate() {
            registry.register(read_builtin(entry, &format!("builtins[{index}]"))?)?;
        }
        Ok(registry)
    }
}

const BUILTIN_FIELDS: [&str; 17] = [
    "name",
    "agent",
    "kind",
    "description",
    "comment",
    "vendors",
    "params",
    "variadic",
    "backends",
    "auth",
    "accepts",
    "returns",
    "run",
    "effect",
    "retry",
    "timeout_ms",
    "verdict",
];

fn read_builtin(value: &Value, at: &str) -> Result<BuiltinSpec, RegistryError> {
    let fields = PlanFields::of(value, at)?;
    fields.only(&BUILTIN_FIELDS)?;
    let name = fields.text("name")?.to_owned();
    let agent = AgentId::parse(fields.text("agent")?);
    let agent = agent.map_err(|source| RegistryError::Agent { name: name.clone(), source })?;
    let kind = match fields.optional_text("kind")?.unwrap_or("activity") {
        "activity" => BuiltinKind::Activity,
        "workflow" => BuiltinKind::Workflow,
        "hold" => BuiltinKind::Hold,
        _ => return Err(fields.wrong("kind", "`activity`, `workflow` or `hold`").into()),
    };
    let run = match fields.map().get("run") {
        None => None,
        Some(run) => Some(Implementation::read(run, &fields.place("run"))?),
    };
    let retry = match fields.map().get("retry") {
        None => None,
        Some(retry) => Some(RetryLimits::read(retry, &fields.place("retry"))?),
    };
    let verdict = match fields.map().get("verdict") {
        None => None,
        Some(_) if kind != BuiltinKind::Activity => {
            return Err(fields.wrong("verdict", "absent where the kind is not `activity`").into());
        }
        Some(verdict) => Some(VerdictQuestion::read(verdict, &fields.place("verdict"))?),
    };
    Ok(BuiltinSpec {
        kind,
        description: fields.optional_text("description")?.unwrap_or_default().to_owned(),
        vendors: fields.optional_texts("vendors")?.unwrap_or_default(),
        schema: read_schema(&fields)?,
        backends: read_backends(&fields)?,
        auth: read_auth(&fields)?,
        accepts: read_shape(&fields, "accepts")?,
        returns: read_shape(&fields, "returns")?,
        effect: read_effect(&fields)?,
        timeout_ms: fields.optional_count("timeout_ms", DURATION_MS_MAX)?,
        run,
        retry,
        verdict,
        ..BuiltinSpec::new(name, agent)
    })
}

fn read_schema(fields: &PlanFields<'_>) -> Result<ArgSchema, ShapeError> {
    let params = fields.optional_list("params")?.unwrap_or_default();
    let params = params
        .iter()
        .enumerate()
        .map(|(index, param)| read_param(param, &fields.place(&format!("params[{index}]"))))
        .collect::<Result<Vec<AgentParameter>, ShapeError>>()?;
    let variadic = match fields.optional_text("variadic")? {
        None => None,
        Some(text) => Some(read_type(fields, "variadic", text)?),
    };
    Ok(ArgSchema { params, variadic })
}

fn read_param(value: &Value, at: &str) -> Result<AgentParameter, ShapeError> {
    let fields = PlanFields::of(value, at)?;
    fields.only(&["name", "type", "optional", "default", "min", "max", "one_of", "description"])?;
    fields.optional_text("description")?;
    let kind = read_type(&fields, "type", fields.text("type")?)?;
    let presence = if fields.flag("optional")? { Presence::Optional } else { Presence::Required };
    Ok(AgentParameter {
        presence,
        default: fields.map().get("default").cloned(),
        min: fields.optional_number("min")?,
        max: fields.optional_number("max")?,
        one_of: fields.optional_texts("one_of")?,
        ..AgentParameter::new(fields.text("name")?, kind)
    })
}

fn read_type(
    fields: &PlanFields<'_>,
    field: &str,
    text: &str,
) -> Result<ParameterType, ShapeError> {
    ParameterType::parse(text).ok_or_else(|| {
        fields.wrong(field, "`string`, `int`, `number`, `bool`, `ref` or `list<…>` of one of them")
    })
}

fn read_backends(fields: &PlanFields<'_>) -> Result<Vec<Backend>, ShapeError> {
    let names = fields.optional_texts("backends")?.unwrap_or_default();
    let backends: Option<Vec<Backend>> = names.iter().map(|name| Backend::parse(name)).collect();
    backends.ok_or_else(|| fields.wrong("backends", "a list of `memory` and `temporal`"))
}

fn read_effect(fields: &PlanFields<'_>) -> Result<Option<CallEffect>, ShapeError> {
    let Some(text) = fields.optional_text("effect")? else { return Ok(None) };
    let wrong = || fields.wrong("effect", "`pure`, `read`, `idempotent` or `once`");
    CallEffect::parse(text).map(Some).ok_or_else(wrong)
}

/// Reads `text`, `json` or `tuple(n)`.
fn read_shape(fields: &PlanFields<'_>, field: &str) -> Result<Option<ValueShape>, ShapeError> {
    let Some(text) = fields.optional_text(field)? else { return Ok(None) };
    let wrong = || fields.wrong(field, "`text`, `json` or `tuple(n)` with n of 2 or more");
    match text {
        "text" => return Ok(Some(ValueShape::Text)),
        "json" => return Ok(Some(ValueShape::Json)),
        _ => {}
    }
    let inner = text.strip_prefix("tuple(").and_then(|rest| rest.strip_suffix(')'));
    let n = inner.and_then(|digits| digits.parse::<usize>().ok()).filter(|n| *n >= 2);
    n.map(|n| Some(ValueShape::Tuple(n))).ok_or_else(wrong)
}

fn read_auth(fields: &PlanFields<'_>) -> Result<AuthSource, ShapeError> {
    let Some(value) = fields.map().get("auth") else { return Ok(AuthSource::None) };
    let at = fields.place("auth");
    let auth = PlanFields::of(value, &at)?;
    let owned = |field: &str| auth.text(field).map(str::to_owned);
    let (source, known): (AuthSource, &[&str]) = match auth.text("kind")? {
        "none" => (AuthSource::None, &["kind"]),
        "oauth" => {
            let scopes = auth.optional_texts("scopes")?.unwrap_or_default();
            (
                AuthSource::OAuth { provider: owned("provider")?, scopes },
                &["kind", "provider", "scopes"],
            )
        }
        "env" => (AuthSource::Env { var: owned("var")? }, &["kind", "var"]),
        "file" => (AuthSource::File { path: owned("path")? }, &["kind", "path"]),
        "secret" => (AuthSource::Secret { name: owned("name")? }, &["kind", "name"]),
        "static" => (AuthSource::Static, &["kind"]),
        _ => return Err(auth.wrong("kind", "`none`, `oauth`, `env`, `file`, `secret` or `static`")),
    };
    auth.only(known)?;
    Ok(source)
}
