//! The digest of a configuration: by it a run that is taken up later learns that models, tools or
//! servers are others by then.

use std::collections::BTreeMap;

use agentic_model::{Cid, Value, canonical};

use super::{Configuration, McpEntry, ModelEntry};

/// The variables that say where the servers of models are.
const SERVER_VARIABLES: [&str; 3] = ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_BASE_URL"];

impl Configuration {
    /// Returns the digest of what models, tools and servers resolve to. It is the same wherever the
    /// folder of the configuration stands. Keys, what servers find in their environment, bounds and
    /// how people are reached take no part in it: nobody can guess a secret against it.
    pub fn digest(&self) -> Cid {
        let models = self.models.iter();
        let servers = self.mcp.iter();
        let withheld: Vec<String> = self.withheld.entries().map(str::to_owned).collect();
        let said = Value::map([
            ("default", optional(self.default_model().map(without_secrets))),
            ("models", map(models.map(|(name, model)| (name, model_value(model))))),
            ("variables", map(self.server_variables())),
            ("tools", self.tools_value()),
            ("mcp", map(servers.map(|(name, server)| (name, server_value(server))))),
            ("plain", texts(&self.plain)),
            ("withheld", texts(&withheld)),
        ]);
        Cid::of(&canonical::encode(&said).expect("texts in lists and maps have a canonical form"))
    }

    fn server_variables(&self) -> impl Iterator<Item = (&String, Value)> {
        let is_server = |name: &str| SERVER_VARIABLES.contains(&name);
        let servers = self.variables.iter().filter(move |(name, _)| is_server(name));
        servers.map(|(name, address)| (name, Value::text(without_secrets(address))))
    }

    fn tools_value(&self) -> Value {
        let tools = &self.tools;
        let workspace = tools.workspace.as_ref().map(|folder| folder.to_string_lossy());
        Value::map([
            ("workspace", optional(workspace)),
            ("commands", texts(&tools.commands)),
            ("search", optional(tools.search.as_deref().map(without_secrets))),
            ("hosts", texts(&tools.hosts)),
        ])
    }
}

fn model_value(model: &ModelEntry) -> Value {
    let server = model.server.as_deref().map(without_secrets);
    Value::map([("uri", Value::text(without_secrets(&model.uri))), ("server", optional(server))])
}

/// Says what a server is. Of its environment only the names count, and where values are taken from:
/// what is written there may be a secret.
fn server_value(server: &McpEntry) -> Value {
    let source = |value: &String| optional(Some(value.as_str()).filter(|it| it.starts_with('$')));
    let environment = server.environment.iter().map(|(name, value)| (name, source(value)));
    Value::map([("argv", texts(&server.argv)), ("environment", map(environment))])
}

/// Leaves out of an address what may be secret: who calls, and what stands behind the path.
fn without_secrets(address: &str) -> String {
    let (scheme, rest) = address.split_at(address.find("://").map_or(0, |at| at + 3));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let end = rest.find('/').unwrap_or(rest.len());
    let server = rest[..end].rfind('@').map_or(rest, |at| &rest[at + 1..]);
    format!("{scheme}{server}")
}

fn optional(text: Option<impl Into<String>>) -> Value {
    text.map_or(Value::Null, Value::text)
}

fn texts(texts: &[String]) -> Value {
    Value::List(texts.iter().map(Value::text).collect())
}

fn map<'a>(entries: impl Iterator<Item = (&'a String, Value)>) -> Value {
    let entries: BTreeMap<String, Value> =
        entries.map(|(name, value)| (name.clone(), value)).collect();
    Value::Map(entries)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn digest(text: &str, folder: &str) -> Cid {
        let path = Path::new(folder).join("agentic.toml");
        Configuration::parse(text, &path).expect("it is a configuration").digest()
    }

    #[track_caller]
    fn check(one: &str, other: &str, is_same: bool) {
        assert_eq!(digest(one, "/a") == digest(other, "/b"), is_same, "{one} against {other}");
    }

    #[test]
    fn another_model_tool_or_server_is_another_configuration() {
        check("", "", true);
        check("", "default_model = \"mock://\"", false);
        let model = "[models.m]\nuri = \"openai://m\"\n";
        check(model, "[models.m]\nuri = \"openai://n\"", false);
        check(model, &format!("{model}base_url = \"http://127.0.0.1/v1\""), false);
        check("", "[tools]\ncommands = [\"ls\"]", false);
        check("[mcp.s]\ncommand = \"a\"", "[mcp.s]\ncommand = \"b\"", false);
    }

    #[test]
    fn keys_bounds_and_written_values_take_no_part() {
        let model = "[models.m]\nuri = \"openai://m\"\n";
        check(model, &format!("{model}retries = 0\ntimeout_ms = 5\nkey = {{ env = \"K\" }}"), true);
        let server = |value| format!("[mcp.s]\ncommand = \"a\"\nenv = {{ T = \"{value}\" }}");
        check(&server("one"), &server("two"), true);
        check(&server("$ONE"), &server("$TWO"), false);
    }

    #[test]
    fn an_address_counts_without_who_calls_and_what_is_asked() {
        assert_eq!(without_secrets("http://ada:pw@host:1/v1?key=k#x"), "http://host:1/v1");
        assert_eq!(without_secrets("host/a@b"), "host/a@b");
        assert_eq!(without_secrets("http://a@b@host"), "http://host");
        assert_eq!(without_secrets("mock"), "mock");
    }
}
