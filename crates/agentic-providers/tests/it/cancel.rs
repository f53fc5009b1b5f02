//! Calls that nobody waits for any more.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use agentic_providers::endpoint::{EndpointCall, EndpointReply, Exchange};
use agentic_providers::host::CancelFlag;
use agentic_providers::model::{
    Endpoint, FaultClass, Model, ModelCall, ModelPrompt, ModelProtocol, Refusals, RetryRule,
    TIME_LIMIT_DEFAULT,
};

use crate::server::{End, Play, Server, reply};

/// Withdraws a call once its request has come, and returns what becomes of it.
fn withdraw(play: Play) -> FaultClass {
    let server = Server::start(vec![play]);
    let endpoint = Endpoint {
        protocol: ModelProtocol::OpenAi,
        server: server.address.clone(),
        name: "m".to_owned(),
        key: None,
        folder: PathBuf::new(),
        limit: TIME_LIMIT_DEFAULT,
        retry: RetryRule { pause_first: Duration::from_secs(60), ..RetryRule::default() },
        refusals: Refusals::default(),
    };
    let cancel = CancelFlag::new();
    let watched = cancel.clone();
    let waiting = thread::spawn(move || {
        let result = endpoint.complete(&ModelPrompt::default(), &mut ModelCall::new(&watched));
        result.expect_err("nobody replies").class
    });
    server.asked();
    cancel.set();
    waiting.join().expect("a withdrawn call ends")
}

#[test]
fn a_withdrawn_call_ends_wherever_it_stands() {
    let silent = Play { end: End::Stall, ..Play::default() };
    assert_eq!(withdraw(silent), FaultClass::Cancelled);
    let half = reply("HTTP/1.1 200 OK\nContent-Length: 100\n\n{\"choices\"");
    assert_eq!(withdraw(Play { end: End::Stall, ..half }), FaultClass::Cancelled);
    // Between two attempts.
    assert_eq!(withdraw(reply("HTTP/1.1 503 Busy\n\nbusy")), FaultClass::Cancelled);
}

#[test]
fn a_call_that_is_withdrawn_before_it_begins_sends_nothing() {
    let server = Server::start(vec![Play::default()]);
    let endpoint = Endpoint {
        protocol: ModelProtocol::Ollama,
        server: server.address.clone(),
        name: "m".to_owned(),
        key: None,
        folder: PathBuf::new(),
        limit: TIME_LIMIT_DEFAULT,
        retry: RetryRule::default(),
        refusals: Refusals::default(),
    };
    let cancel = CancelFlag::new();
    cancel.set();
    let fault = endpoint.complete(&ModelPrompt::default(), &mut ModelCall::new(&cancel));
    assert_eq!(fault.expect_err("it was withdrawn").class, FaultClass::Cancelled);
    assert_eq!(server.asked_already(), None);
}

#[test]
fn a_withdrawn_call_of_an_endpoint_ends_wherever_it_stands() {
    let silent = Play { end: End::Stall, ..Play::default() };
    let half = reply("HTTP/1.1 200 OK\nContent-Length: 100\n\n\"no");
    for play in [silent, Play { end: End::Stall, ..half }] {
        let server = Server::start(vec![play]);
        let exchange = Exchange {
            call: EndpointCall {
                url: server.address.clone(),
                method: "POST".to_owned(),
                body: Vec::new(),
            },
            key: "k".to_owned(),
            headers: Vec::new(),
            limit: TIME_LIMIT_DEFAULT,
        };
        let cancel = CancelFlag::new();
        let watched = cancel.clone();
        let waiting = thread::spawn(move || exchange.perform(&watched));
        server.asked();
        cancel.set();
        assert_eq!(waiting.join().expect("a withdrawn call ends"), EndpointReply::Stopped);
        server.left();
    }
}
