//! Registries as data out, so that a run can pin the one it was started with.

use agentic_model::{Map, Value};

use crate::node::Backend;
use crate::registry::schema::Presence;
use crate::registry::{
    AgentParameter, AuthSource, BuiltinKind, BuiltinSpec, Registry, ValueShape, VerdictQuestion,
};

impl Registry {
    /// Returns the form that [`Registry::from_value`] reads, sorted by name.
    pub fn to_value(&self) -> Value {
        let builtins = self.builtins().map(BuiltinSpec::to_value).collect();
        Value::map([("builtins", Value::List(builtins))])
    }
}

impl BuiltinSpec {
    /// Returns the entry as a registry file holds it.
    pub fn to_value(&self) -> Value {
        let kind = match self.kind {
            BuiltinKind::Activity => "activity",
            BuiltinKind::Workflow => "workflow",
            BuiltinKind::Hold => "hold",
        };
        let mut map = Map::from([
            ("name".to_owned(), Value::text(&self.name)),
            ("agent".to_owned(), Value::text(self.agent.as_str())),
            ("kind".to_owned(), Value::text(kind)),
            ("backends".to_owned(), texts(self.backends.iter().copied().map(Backend::as_str))),
            ("params".to_owned(), self.params_value()),
        ]);
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key.to_owned(), value);
            }
        };
        let description = Some(&self.description).filter(|text| !text.is_empty());
        put("description", description.map(Value::text));
        let vendors = Some(&self.vendors).filter(|vendors| !vendors.is_empty());
        put("vendors", vendors.map(|vendors| texts(vendors.iter().map(String::as_str))));
        put("variadic", self.schema.variadic.as_ref().map(|kind| Value::text(kind.to_string())));
        put("auth", Some(self.auth.to_value()).filter(|_| self.auth != AuthSource::None));
        put("accepts", self.accepts.map(|shape| Value::text(shape.to_string())));
        put("returns", self.returns.map(|shape| Value::text(shape.to_string())));
        put("run", self.run.as_ref().map(|run| run.to_value()));
        put("effect", self.effect.map(|effect| Value::text(effect.as_str())));
        put("verdict", self.verdict.as_ref().map(VerdictQuestion::to_value));
        put("retry", self.retry.as_ref().map(|retry| retry.to_value()));
        let timeout_ms = self.timeout_ms.and_then(|millis| i64::try_from(millis).ok());
        put("timeout_ms", timeout_ms.map(Value::Int));
        Value::Map(map)
    }

    /// Returns the parameters as data: what tools and models are shown.
    pub fn params_value(&self) -> Value {
        Value::List(self.schema.params.iter().map(param_value).collect())
    }
}

impl AuthSource {
    /// Returns the form that registries and plans hold.
    pub fn to_value(&self) -> Value {
        let (kind, field) = match self {
            AuthSource::None => ("none", None),
            AuthSource::OAuth { provider, .. } => ("oauth", Some(("provider", provider))),
            AuthSource::Env { var } => ("env", Some(("var", var))),
            AuthSource::File { path } => ("file", Some(("path", path))),
            AuthSource::Secret { name } => ("secret", Some(("name", name))),
            AuthSource::Static => ("static", None),
        };
        let mut map = Map::from([("kind".to_owned(), Value::text(kind))]);
        if let Some((key, text)) = field {
            map.insert(key.to_owned(), Value::text(text));
        }
        if let AuthSource::OAuth { scopes, .. } = self
            && !scopes.is_empty()
        {
            map.insert("scopes".to_owned(), texts(scopes.iter().map(String::as_str)));
        }
        Value::Map(map)
    }
}

impl std::fmt::Display for ValueShape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueShape::Text => f.write_str("text"),
            ValueShape::Json => f.write_str("json"),
            ValueShape::Tuple(n) => write!(f, "tuple({n})"),
        }
    }
}

fn param_value(param: &AgentParameter) -> Value {
    let mut map = Map::from([
        ("name".to_owned(), Value::text(&param.name)),
        ("type".to_owned(), Value::text(param.kind.to_string())),
    ]);
    if param.presence == Presence::Optional {
        map.insert("optional".to_owned(), Value::Bool(true));
    }
    if let Some(default) = &param.default {
        map.insert("default".to_owned(), default.clone());
    }
    for (key, bound) in [("min", param.min), ("max", param.max)] {
        if let Some(bound) = bound {
            map.insert(key.to_owned(), Value::Float(bound));
        }
    }
    if let Some(choices) = &param.one_of {
        map.insert("one_of".to_owned(), texts(choices.iter().map(String::as_str)));
    }
    Value::Map(map)
}

fn texts<'a>(items: impl Iterator<Item = &'a str>) -> Value {
    Value::List(items.map(Value::text).collect())
}
