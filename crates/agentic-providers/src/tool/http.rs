//! `http://` and `https://`: requests to the one origin that a program imported.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use ureq::http::Uri;

use super::argument::ToolArgument;
use super::placeholder::RevealedSecrets;
use super::{ToolCall, ToolFault, ToolFaultClass, ToolResult, ToolSetting, json};
use crate::http::{Client, HttpFault, HttpMessage};

/// How long a call takes unless it says so, in milliseconds.
const TIME_LIMIT_MS_DEFAULT: usize = 10_000;
/// The longest body of a reply, in bytes.
const BODY_BYTES_MAX: u64 = 16 << 20;
/// The headers that belong to the connection, not to the program.
const OWN_HEADERS: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "te"];

#[derive(Serialize)]
struct HttpToolReply {
    ok: bool,
    status: u16,
    body: String,
    json: Option<Box<RawValue>>,
}

/// Performs a call: the name of the method is the verb.
pub(super) fn call(call: &ToolCall, setting: &ToolSetting<'_>) -> ToolResult {
    let argument = ToolArgument::of(call)?;
    let url = resolve(&call.uri, &argument.text("url")?)?;
    let limit = Duration::from_millis(argument.count("timeout", TIME_LIMIT_MS_DEFAULT)? as u64);
    let limit = setting.limit.map_or(limit, |outer| outer.min(limit));
    let mut revealed = RevealedSecrets::default();
    let mut headers = headers(&argument, &mut revealed, setting.session)?;
    let body = match argument.raw("body") {
        None => None,
        Some(raw) => {
            let text = serde_json::from_str::<String>(raw);
            let has_type =
                headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            if text.is_err() && !has_type {
                headers.push(("content-type".to_owned(), "application/json".to_owned()));
            }
            let text = text.unwrap_or_else(|_| raw.to_owned());
            Some(revealed.reveal(&text, setting.session))
        }
    };
    // The origin was looked at before: what is put in cannot lead to another one.
    let url = revealed.reveal_in_address(&url, setting.session);
    let redactor = revealed.redactor();
    let fault = |broken: HttpFault| {
        let ToolFault { class, message } = fault(&broken);
        ToolFault { class, message: redactor.text(&message) }
    };
    let method = call.method.to_uppercase();
    let body = body.as_deref().map(str::as_bytes);
    let message = HttpMessage { method: &method, url: &url, headers: &headers, body };
    let received = Client::new(limit, setting.cancel).send(&message).map_err(fault)?;
    let status = received.status;
    let bytes = received.read_all(BODY_BYTES_MAX).map_err(fault)?;
    let body = redactor.reply_text(String::from_utf8_lossy(&bytes).into_owned());
    let json_body = serde_json::from_str(&body).ok();
    json(&HttpToolReply { ok: (200..300).contains(&status), status, body, json: json_body })
}

fn headers(
    argument: &ToolArgument<'_>,
    revealed: &mut RevealedSecrets,
    session: &str,
) -> Result<Vec<(String, String)>, ToolFault> {
    let mut headers = Vec::new();
    for (name, value) in argument.members("headers")? {
        if OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(argument.fault("headers", &format!("may not hold `{name}`")));
        }
        let value = match value {
            Json::String(text) => text,
            Json::Number(number) => number.to_string(),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => {
                return Err(argument.fault("headers", "are texts"));
            }
        };
        headers.push((name, revealed.reveal(&value, session)));
    }
    Ok(headers)
}

fn fault(fault: &HttpFault) -> ToolFault {
    let class = match fault {
        HttpFault::Malformed(_) | HttpFault::Transport(_) | HttpFault::TooLong(_) => {
            ToolFaultClass::Refused
        }
        HttpFault::Unreachable(_) => ToolFaultClass::Unreachable,
        HttpFault::TimedOut(_) => ToolFaultClass::TimedOut,
        HttpFault::Cancelled => ToolFaultClass::Cancelled,
    };
    ToolFault { class, message: fault.to_string() }
}

/// Resolves an address on that of the import; another origin is refused.
fn resolve(import: &str, url: &str) -> Result<String, ToolFault> {
    let base = parse(import)?;
    let (scheme, host) = origin(&base)?;
    let absolute = if url.contains("://") {
        url.to_owned()
    } else if url.starts_with("//") {
        format!("{}:{url}", base.scheme_str().unwrap_or_default())
    } else if url.starts_with('/') {
        format!("{scheme}://{host}{url}")
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{host}{folder}/{url}")
    };
    // What stands behind `#` is not sent.
    let absolute = absolute.split('#').next().unwrap_or_default().to_owned();
    let found = origin(&parse(&absolute)?)?;
    if found != (scheme.clone(), host.clone()) {
        let (other_scheme, other_host) = found;
        return Err(ToolFault::refused(format!(
            "`{other_scheme}://{other_host}` is not the origin `{scheme}://{host}` of the import"
        )));
    }
    Ok(absolute)
}

fn parse(url: &str) -> Result<Uri, ToolFault> {
    url.parse().map_err(|_| ToolFault::refused(format!("`{url}` is no address")))
}

/// Returns scheme, and host with port, of an address; one with a password has no origin.
fn origin(uri: &Uri) -> Result<(String, String), ToolFault> {
    let refused = |what: &str| ToolFault::refused(format!("`{uri}` {what}"));
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(refused("is no `http://` or `https://` address"));
    };
    let usual_port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return Err(refused("is no `http://` or `https://` address")),
    };
    if authority.as_str().contains('@') {
        return Err(ToolFault::refused("an address with a name or password is refused"));
    }
    let port = authority.port_u16().unwrap_or(usual_port);
    let shown_port = if port == usual_port { String::new() } else { format!(":{port}") };
    Ok((scheme.to_owned(), format!("{}{shown_port}", authority.host().to_lowercase())))
}
