//! `agentic.toml` and the environment: which model a name stands for.

use std::fs;
use std::path::Path;

use agentic_providers::configuration::Configuration;
use agentic_providers::model::{ResolvedModel, resolve};

const TEXT: &str = r#"
default_model = "fast"
plain = ["HOME"]

[models.fast]
uri = "ollama://llama3:8b"
retries = 1

[models.far]
uri = "openai://gpt-5"
base_url = "https://gateway.example/v1"
timeout_ms = 1000

[models.keyed]
uri = "openai://gpt-6"
base_url = "https://gateway.example/v1"
key = { file = "key" }

[models."anthropic://old"]
uri = "anthropic://new"

[models.made_up]
uri = "mock://"

[mcp.search]
command = "search"
args = ["--stdio"]
env = { TOKEN = "$TOKEN" }
"#;

fn configuration(variables: &[(&str, &str)]) -> Configuration {
    let parsed = Configuration::parse(TEXT, Path::new("/here/agentic.toml"));
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Configuration { variables: variables.collect(), ..parsed.expect("the text is right") }
}

/// Says who answers: protocol, server, name and where the key is.
fn who(configuration: &Configuration, wanted: Option<&str>) -> String {
    match resolve(configuration, wanted) {
        Ok(ResolvedModel::Mock) => "mock".to_owned(),
        Ok(ResolvedModel::Endpoint(endpoint)) => {
            let key = endpoint.key.map_or("no key".to_owned(), |key| format!("{key:?}"));
            let (scheme, name) = (endpoint.protocol.scheme(), endpoint.name);
            format!("{scheme} {} {name} {key}", endpoint.server)
        }
        Err(fault) => fault.message,
    }
}

#[test]
fn names_and_addresses_stand_for_models() {
    let plain = configuration(&[]);
    let check = |wanted, found: &str| assert_eq!(who(&plain, wanted), found, "{wanted:?}");
    let own = "ollama http://localhost:11434 llama3:8b no key";
    check(None, own);
    check(Some(""), own);
    check(Some("fast"), own);
    check(Some("model://fast"), own);
    check(Some("ollama://llama3:8b"), own);
    check(Some("openai://gpt-5"), "openai https://gateway.example/v1 gpt-5 no key");
    check(Some("keyed"), r#"openai https://gateway.example/v1 gpt-6 File("key")"#);
    let key = r#"Environment("ANTHROPIC_API_KEY")"#;
    check(Some("anthropic://old"), &format!("anthropic https://api.anthropic.com new {key}"));
    check(Some("anthropic://x"), &format!("anthropic https://api.anthropic.com x {key}"));
    check(Some("made_up"), "mock");
    check(Some("slow"), "`slow` is neither a configured model nor an address");
    check(Some("model://slow"), "there is no configured model `slow`");
    let empty = Configuration::default();
    assert!(who(&empty, None).contains("no model is named"));
}

#[test]
fn the_environment_moves_servers_and_the_default() {
    let moved = configuration(&[
        ("AGENTIC_MODEL", "openai://gpt-7"),
        ("OPENAI_BASE_URL", "http://localhost:8080/v1"),
        ("OLLAMA_BASE_URL", "http://far:1"),
    ]);
    // What the file says about one model counts for more.
    assert!(who(&moved, None).starts_with("openai http://localhost:8080/v1 gpt-7"));
    assert_eq!(who(&moved, Some("far")), "openai https://gateway.example/v1 gpt-5 no key");
    assert_eq!(who(&moved, Some("fast")), "ollama http://far:1 llama3:8b no key");
    assert_eq!(who(&moved, Some("ollama://h:2/m")), "ollama http://h:2 m no key");
    let odd = configuration(&[("OPENAI_BASE_URL", "ftp://x")]);
    assert_eq!(who(&odd, Some("openai://m")), "`ftp://x` is no `http://` or `https://` address");
}

#[test]
fn a_wrong_file_says_where_and_why() {
    let check = |text: &str, wanted: &str| {
        let error = Configuration::parse(text, Path::new("agentic.toml")).expect_err(text);
        assert!(error.to_string().contains(wanted), "{text}: {error}");
    };
    check("models = 3", "at line 1: ");
    check("\n\n[models.a]\nuri = 1", "at line 4: ");
    check("\nspeed = 3", "unknown field `speed`");
    check("[models.a]\nuri = \"openai://m\"\nkeys = 1", "unknown field `keys`");
    check("[models.a]\nuri = \"m\"", "wrong about `models.a`: `m` is neither");
    check("[models.a]\nuri = \"openai://m\"\nbase_url = \"x\"", "is no `http://`");
    check("[models.a]\nuri = \"openai://m\"\nbase_url = \"http://u:p@h\"", "holds a password");
    check("[models.a]\nuri = \"openai://m\"\nkey = { text = \"sk\" }", "`key` is");
    for key in
        ["\"sk-1\"", "{}", "{ env = 1 }", "{ command = [] }", "{ env = \"A\", file = \"b\" }"]
    {
        check(&format!("[models.a]\nuri = \"openai://m\"\nkey = {key}"), "`key` is");
    }
    check("[models.a]\nuri = \"mock://\"\ntimeout_ms = 0", "`timeout_ms` is above 0");
    check(&format!("a = {}1{}", "[".repeat(9000), "]".repeat(9000)), "at line 1");
}

#[test]
fn what_others_read_of_the_file_is_theirs() {
    for text in ["[[hold]]\nx = 1", "[temporal]\nx = 1", "[[redact.rule]]\nid = \"a\""] {
        Configuration::parse(text, Path::new("agentic.toml")).expect(text);
    }
}

#[test]
fn the_file_is_looked_for_up_to_the_top_of_the_repository() {
    let root = tempfile::tempdir().expect("a temporary folder");
    let deep = root.path().join("repo/a/b");
    fs::create_dir_all(&deep).expect("the folder is ours");
    let write = |at: &Path, name: &str| {
        fs::write(at.join("agentic.toml"), format!("default_model = \"{name}\"")).expect("ours");
    };
    let found = |folder: &Path| {
        Configuration::find(folder).expect("it can be read").default_model.unwrap_or_default()
    };
    write(root.path(), "outside");
    assert_eq!(found(&deep), "", "without a repository only the folder itself counts");
    fs::create_dir(root.path().join("repo/.git")).expect("the folder is ours");
    assert_eq!(found(&deep), "");
    write(&root.path().join("repo"), "top");
    assert_eq!(found(&deep), "top");
    write(&deep, "deep");
    assert_eq!(found(&deep), "deep");
    fs::write(deep.join("agentic.toml"), b"\xff").expect("ours");
    assert!(Configuration::find(&deep).is_err());
}
