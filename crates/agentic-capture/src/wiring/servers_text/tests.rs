use super::{ServerEntry, WiredText, with_server, without_server};
use crate::Source;

fn entry(source: Source) -> ServerEntry<'static> {
    ServerEntry { source, checkout: None, program: "/opt/agentic" }
}

/// Puts the server in, twice, and takes it out again.
fn there_and_back(entry: &ServerEntry<'_>, text: &str) -> String {
    let Ok(WiredText::Text(with)) = with_server(entry, Some(text)) else {
        panic!("not put into {text}")
    };
    let again = with_server(entry, Some(&with)).expect("fits");
    assert_eq!(again, WiredText::Text(with.clone()));
    let back = without_server(entry, Some(&with)).expect("readable");
    assert_eq!(back, WiredText::Text(text.to_owned()), "by way of {with}");
    with
}

#[test]
fn a_server_leaves_files_of_others_as_they_were() {
    for source in [Source::Claude, Source::Cursor, Source::Copilot, Source::Opencode] {
        for text in ["{}", "{\"mcpServers\": {}}", "{\n\t\"mcp\": {\n\t}\n}\n", "{\"a\": [1, 2]}"] {
            there_and_back(&entry(source), text);
        }
    }
    let other = "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}\n  }\n}\n";
    assert!(there_and_back(&entry(Source::Gemini), other).contains("    \"agentic\": {\n"));
}

#[test]
fn a_server_of_one_checkout_stands_with_that_checkout() {
    let entry = ServerEntry { checkout: Some("/src/shop"), ..entry(Source::Claude) };
    let with = there_and_back(&entry, "{\n  \"projects\": {\n    \"/a\": {}\n  }\n}");
    let value: serde_json::Value = serde_json::from_str(&with).expect("JSON");
    assert_eq!(value["projects"]["/src/shop"]["mcpServers"]["agentic"]["args"][0], "mcp");
}

#[test]
fn a_table_leaves_files_of_others_as_they_were() {
    for text in ["", "a = 1", "a = 1\n", "a = 1\r\n\r\n[b]\r\nc = 2\r\n", "# only this\n\n"] {
        there_and_back(&entry(Source::Codex), text);
    }
}

#[test]
fn a_file_that_was_made_for_the_server_goes_with_it() {
    for source in Source::ALL {
        let Ok(WiredText::Text(text)) = with_server(&entry(source), None) else {
            panic!("not made for {source}")
        };
        let back = without_server(&entry(source), Some(&text)).expect("readable");
        assert_eq!(back, WiredText::Remove, "{text}");
    }
}

#[test]
fn a_newer_program_takes_the_place_of_an_older_one() {
    let old = "[mcp_servers.agentic]\ncommand = \"/old/agentic\"\nargs = [\"mcp\"]\nenabled = true\n\n[x]\n";
    let new = "[mcp_servers.agentic]\ncommand = \"/opt/agentic\"\nargs = [\"mcp\"]\nenabled = true\n\n[x]\n";
    let changed = with_server(&entry(Source::Codex), Some(old)).expect("fits");
    assert_eq!(changed, WiredText::Text(new.to_owned()));
}

#[test]
fn the_server_of_somebody_else_keeps_its_name() {
    for (source, text) in [
        (Source::Claude, "{\"mcpServers\": {\"agentic\": {\"command\": \"other\"}}}"),
        (Source::Codex, "[mcp_servers.agentic]\ncommand = \"other\"\n"),
        (Source::Claude, "{\"mcpServers\": []}"),
        (Source::Codex, "mcp_servers = { x = { command = \"y\" } }\n"),
        (Source::Codex, "not toml"),
    ] {
        assert!(with_server(&entry(source), Some(text)).is_err(), "{text}");
    }
}
