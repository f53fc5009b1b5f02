//! Where a key goes, and what a file of a repository may say.

use std::collections::BTreeMap;

use agentic_providers::configuration::server::{ServerTable, ServerTables, ServerTls};

use super::{ServerSettings, settings};
use crate::Result;

/// The variables of a process.
type Given = [(&'static str, &'static str)];

fn find(
    named: Option<&str>,
    tables: &ServerTables,
    given: &Given,
) -> Result<Option<ServerSettings>> {
    let given: BTreeMap<&str, &str> = given.iter().copied().collect();
    settings(named, tables, &|name: &str| given.get(name).map(|value| (*value).to_owned()))
}

fn table(address: Option<&str>) -> ServerTable {
    ServerTable { address: address.map(str::to_owned), ..ServerTable::default() }
}

fn keyed(address: Option<&str>) -> ServerTable {
    ServerTable { api_key_env: Some("K".to_owned()), ..table(address) }
}

/// Says where the runs go, whether a key goes there, and whether by TLS.
fn shown(found: Result<Option<ServerSettings>>) -> String {
    match found {
        Err(error) => format!("refused: {error}"),
        Ok(None) => "nowhere".to_owned(),
        Ok(Some(found)) => {
            let key = found.key.map(|key| format!(" with {}", key.expose())).unwrap_or_default();
            let tls = if found.tls.is_some() { " by TLS" } else { "" };
            format!("{}{key}{tls}", found.address)
        }
    }
}

#[test]
fn the_nearest_source_names_the_server() {
    let own = ServerTables { own: vec![table(Some("own:1"))], committed: None };
    let none = ServerTables::default();
    assert_eq!(shown(find(None, &none, &[])), "nowhere");
    assert_eq!(shown(find(None, &none, &[("TEMPORAL_ADDRESS", "env:1")])), "env:1");
    assert_eq!(shown(find(None, &own, &[("TEMPORAL_ADDRESS", "env:1")])), "own:1");
    assert_eq!(shown(find(Some("line:1"), &own, &[("TEMPORAL_ADDRESS", "env:1")])), "line:1");
    let namespace = [("TEMPORAL_NAMESPACE", "space")];
    assert_eq!(shown(find(Some("line:1"), &none, &namespace)), "temporal://line:1/space");
    let named = Some("temporal://line:1/mine");
    assert_eq!(shown(find(named, &none, &namespace)), "temporal://line:1/mine");
}

#[test]
fn a_committed_file_sends_nothing() {
    let mut committed = keyed(Some("evil:1"));
    committed.tls =
        Some(ServerTls { server_name: Some("evil".to_owned()), ..ServerTls::default() });
    committed.namespace = Some("theirs".to_owned());
    committed.queue = Some("theirs".to_owned());
    let alone = ServerTables { own: Vec::new(), committed: Some(committed.clone()) };
    let given = [("K", "secret"), ("TEMPORAL_API_KEY", "secret")];
    assert_eq!(shown(find(None, &alone, &given)), "nowhere");
    // Of another server it says nothing either.
    let found = find(Some("127.0.0.1:1"), &alone, &[("K", "secret")]);
    assert_eq!(shown(found), "127.0.0.1:1");
    // Of the one that the user names it says the namespace and the queue, no more.
    let both = ServerTables { own: vec![table(Some("evil:1"))], committed: Some(committed) };
    let found = find(None, &both, &[("K", "secret")]).expect("good").expect("one");
    assert_eq!(found.queues.usual.as_deref(), Some("theirs"));
    assert_eq!(shown(Ok(Some(found))), "temporal://evil:1/theirs");
}

#[test]
fn a_key_goes_only_to_the_server_of_whoever_names_it() {
    let tables = ServerTables { own: vec![keyed(Some("mine:1"))], committed: None };
    let given = [("K", "secret")];
    assert_eq!(shown(find(None, &tables, &given)), "mine:1 with secret by TLS");
    assert_eq!(shown(find(Some("mine:1"), &tables, &given)), "mine:1 with secret by TLS");
    assert_eq!(shown(find(Some("other:1"), &tables, &given)), "other:1");
    let given = [("TEMPORAL_ADDRESS", "mine:1"), ("TEMPORAL_API_KEY", "secret")];
    assert_eq!(shown(find(Some("other:1"), &ServerTables::default(), &given)), "other:1");
}

#[test]
fn no_key_goes_unprotected_but_to_this_machine() {
    let none = ServerTables::default();
    let given = [("TEMPORAL_API_KEY", "secret"), ("TEMPORAL_TLS", "false")];
    let refused = "refused: no key goes to `far:1` without TLS";
    assert_eq!(shown(find(Some("far:1"), &none, &given)), refused);
    assert_eq!(shown(find(Some("127.0.0.1:1"), &none, &given)), "127.0.0.1:1 with secret");
    assert_eq!(shown(find(Some("[::1]:1"), &none, &given)), "[::1]:1 with secret");
    assert_eq!(shown(find(Some("far:1"), &none, &given[..1])), "far:1 with secret by TLS");
}

#[test]
fn a_check_is_never_left_out() {
    let given = [("TEMPORAL_TLS_DISABLE_HOST_VERIFICATION", "true")];
    assert!(find(Some("far:1"), &ServerTables::default(), &given).is_err());
    let given = [("TEMPORAL_TLS_CLIENT_CERT_DATA", "x")];
    assert!(find(Some("far:1"), &ServerTables::default(), &given).is_err());
}

#[test]
fn a_variable_that_is_not_set_is_told() {
    let tables = ServerTables { own: vec![keyed(None)], committed: None };
    let refused = "refused: `api_key_env` names the variable `K`, which is not set";
    assert_eq!(shown(find(Some("far:1"), &tables, &[])), refused);
}

#[test]
fn the_page_of_a_run_is_known_where_the_user_names_it_and_for_the_service() {
    let page = |named: &str, own: ServerTable, committed: ServerTable| {
        let tables = ServerTables { own: vec![own], committed: Some(committed) };
        let found =
            find(Some(named), &tables, &[]).map(|found| found.and_then(|it| it.page_of("id")));
        found.map_err(|error| error.to_string())
    };
    let with = |web: &str| ServerTable { web: Some(web.to_owned()), ..table(None) };
    let is = |page: &str| Ok(Some(page.to_owned()));
    let (named, none) = ("temporal://line:1/mine", || table(None));
    assert_eq!(page(named, none(), none()), Ok(None));
    let own = page(named, with("https://web.example/"), none());
    assert_eq!(own, is("https://web.example/namespaces/mine/workflows/id"));
    assert_eq!(
        page(named, none(), with("https://evil.example")),
        Ok(None),
        "a file of git names none"
    );
    assert!(page(named, with("javascript:alert(1)"), none()).is_err());
    let cloud = page("temporal://a.b.tmprl.cloud:7233/a.b", none(), none());
    assert_eq!(cloud, is("https://cloud.temporal.io/namespaces/a.b/workflows/id"));
}
