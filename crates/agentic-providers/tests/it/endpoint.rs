//! Calls of endpoints, and what may go wrong with them.

use std::time::Duration;

use agentic_providers::endpoint::{EndpointCall, EndpointReply, Exchange};
use agentic_providers::host::CancelFlag;

use crate::loopback::{Server, json};

fn exchange(url: String, method: &str) -> Exchange {
    Exchange {
        call: EndpointCall {
            url,
            method: method.to_owned(),
            body: b"{\"agent\":\"t/x\"}".to_vec(),
        },
        key: "k1".to_owned(),
        headers: Vec::new(),
        limit: Duration::from_millis(700),
    }
}

/// Shows a reply shortly.
fn shown(reply: &EndpointReply) -> String {
    match reply {
        EndpointReply::Said { status, body } => {
            format!("{status} {}", String::from_utf8_lossy(body))
        }
        EndpointReply::Lost(_) => "lost".to_owned(),
        EndpointReply::Flooded => "flooded".to_owned(),
        EndpointReply::TimedOut => "timed out".to_owned(),
        EndpointReply::Stopped => "stopped".to_owned(),
    }
}

fn check(response: Vec<u8>, wanted: &str) {
    let server = Server::new(1, move |_, _| response.clone());
    let reply = exchange(format!("{}/do", server.url), "POST").perform(&CancelFlag::new());
    assert_eq!(shown(&reply), wanted);
    let asked = server.finish();
    assert_eq!(asked[0].line, "POST /do");
    assert_eq!(asked[0].header("idempotency-key"), Some("k1"));
    assert_eq!(asked[0].body, "{\"agent\":\"t/x\"}");
}

#[test]
fn what_an_endpoint_says_is_returned_with_its_status() {
    check(json("200 OK", "\"yes\""), "200 \"yes\"");
    check(json("404 Not Found", "no"), "404 no");
    check(json("500 Oh", ""), "500 ");
}

#[test]
fn a_redirect_is_not_followed() {
    let response =
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    check(response.as_bytes().to_vec(), "302 ");
}

#[test]
fn what_is_no_response_is_lost() {
    for bytes in ["", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"] {
        check(bytes.as_bytes().to_vec(), "lost");
    }
}

#[test]
fn a_flood_is_cut_off() {
    let mut response = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    response.resize(6 << 20, b'x');
    check(response, "flooded");
}

#[test]
fn one_that_says_nothing_runs_out_of_time() {
    let server = Server::new(1, |_, _| {
        std::thread::sleep(Duration::from_millis(1_200));
        Vec::new()
    });
    let reply = exchange(server.url.clone(), "POST").perform(&CancelFlag::new());
    assert_eq!(shown(&reply), "timed out");
    server.finish();
}

#[test]
fn a_get_has_no_body() {
    let server = Server::new(1, |_, _| json("200 OK", "1"));
    assert_eq!(
        shown(&exchange(format!("{}/q?a=1", server.url), "GET").perform(&CancelFlag::new())),
        "200 1"
    );
    let asked = server.finish();
    assert_eq!((asked[0].line.as_str(), asked[0].body.as_str()), ("GET /q?a=1", ""));
}

#[test]
fn addresses_that_lead_nowhere_are_lost() {
    for url in ["http://127.0.0.1:1/", "http://", "http://[", "not an address"] {
        assert_eq!(
            shown(&exchange(url.to_owned(), "POST").perform(&CancelFlag::new())),
            "lost",
            "{url}"
        );
    }
}
