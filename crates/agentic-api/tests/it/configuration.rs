//! What configuration has: providers, and what of it counts.

use std::fs;

use agentic_api::verb::{
    AllowConfiguration, CredentialLogin, ExamineConfiguration, ListProviders, RevokeAllowance,
};
use agentic_api::{Caller, Surroundings, Verb, VerbCompletion};
use agentic_model::guidance::ErrorClass;

use crate::place::{as_agent, place, refusal};

const MODELS: &str = "default_model = \"plain\"\n[models.plain]\nuri = \"mock://\"\n";
const SERVER: &str = "[mcp.web]\ncommand = \"./no-such-server\"\n";

#[test]
fn providers_are_listed_and_asked_whether_they_answer() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    fs::write(sandbox.start().join("agentic.toml"), format!("{MODELS}{SERVER}")).expect("writable");
    let list = |names: &[&str], probe| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        ListProviders { names, probe }.run(&caller)
    };
    let plain = list(&["plain"], true).expect("it is there");
    assert!(matches!(plain.completion, VerbCompletion::Whole));
    assert!(
        plain.answer[0].default && plain.answer[0].probe.as_ref().is_some_and(|probe| probe.ok)
    );
    let silent = list(&["plain", "web"], true).expect("both are there");
    assert_eq!(silent.answer.len(), 2);
    let VerbCompletion::Short(why) = &silent.completion else { panic!("one does not answer") };
    assert_eq!((why.class, silent.completion.exit_code()), (ErrorClass::Refused, 1));
    assert!(why.message.contains("`web`"), "{}", why.message);
    assert!(list(&[], false).expect("readable").answer.len() >= 2);
    assert_eq!(refusal(list(&["nothing"], false)).class, ErrorClass::Refused);
}

#[test]
fn configuration_that_git_tracks_is_looked_at_before_it_counts() {
    let (sandbox, space) = place();
    let caller = Caller::new(&space, sandbox.start());
    fs::write(sandbox.start().join("agentic.toml"), SERVER).expect("writable");
    let examine = || ExamineConfiguration {}.run(&caller).expect("readable").answer;
    // A file that git does not track is the user's own.
    assert!(examine().is_empty());
    sandbox.git(sandbox.start(), &["add", "agentic.toml"]).expect("it is there");
    let files = examine();
    let [file] = files.as_slice() else { panic!("there is one file") };
    assert_eq!((file.file.as_str(), file.state.as_str()), ("agentic.toml", "withheld"));
    assert_eq!(file.opens[0].does, "starts `./no-such-server`");

    // What has changed since it was shown is not what was said yes to.
    let hash = file.hash.clone();
    let allow = || AllowConfiguration { file: "agentic.toml".to_owned(), hash: hash.clone() };
    fs::write(sandbox.start().join("agentic.toml"), format!("{SERVER}args = [\"x\"]\n"))
        .expect("writable");
    assert_eq!(refusal(allow().run(&caller)).class, ErrorClass::Conflict);
    assert_ne!(examine()[0].hash, hash);
    let agent = as_agent("alice", &space, &sandbox);
    assert_eq!(refusal(allow().run(&agent)).class, ErrorClass::NotAllowed);
    assert_eq!(refusal(RevokeAllowance::default().run(&agent)).class, ErrorClass::NotAllowed);
    let unknown = RevokeAllowance { hash: Some("bafyr4i-nothing".to_owned()) };
    assert_eq!(refusal(unknown.run(&caller)).class, ErrorClass::Refused);
}

#[test]
fn nobody_logs_in_at_a_provider_that_nobody_described() {
    let (sandbox, _space) = place();
    let here = Surroundings { folder: sandbox.start().to_owned(), ..Surroundings::default() };
    let login = CredentialLogin {
        provider: "example".to_owned(),
        identity: "user:alice".to_owned(),
        scope: Vec::new(),
    };
    let refused = login.begin(&here).err().expect("it is not described");
    assert_eq!(refused.class, ErrorClass::Refused);
    assert!(refused.hint.contains("agentic"), "{}", refused.hint);
}
