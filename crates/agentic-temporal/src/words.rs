//! What a server and the way to it say, in our words.

use std::error::Error as StdError;
use std::io::ErrorKind;

use temporalio_client::errors::{
    ClientConnectError, WorkflowInteractionError, WorkflowStartError, WorkflowUpdateError,
};
use temporalio_client::tonic::{Code, Status};

use crate::Error;
use crate::error::whole;

/// The longest text of a server that is repeated, in bytes.
const TEXT_BYTES_MAX: usize = 500;

/// What certificates are refused for, as those who check them write it, and as we say it.
const CERTIFICATES: [(&str, &str); 8] = [
    ("UnknownIssuer", "its certificate is from nobody who is trusted: `tls.ca` names who is"),
    ("NotValidForName", "its certificate has another name: `tls.server_name` says which"),
    ("Expired", "its certificate is not valid any more"),
    ("NotValidYet", "its certificate is not valid yet"),
    ("CertificateRequired", "it wants a certificate of ours: `tls.cert` and `tls.key` name it"),
    ("InvalidContentType", "it does not speak TLS"),
    ("HandshakeFailure", "no way to speak TLS is known to both"),
    ("InvalidCertificate", "its certificate cannot be used"),
];

/// Says why a connection cannot be made.
pub fn of_connection(error: &ClientConnectError) -> String {
    match error {
        ClientConnectError::SystemInfoCallError(status) => of_status(status),
        other => of_transport(other),
    }
}

/// Says what a server answered.
pub fn of_status(status: &Status) -> String {
    let said = || clipped(status.message());
    match status.code() {
        Code::Unavailable | Code::Unknown if status.source().is_some() => of_transport(status),
        Code::Unavailable => format!("it cannot answer now: {}", said()),
        Code::DeadlineExceeded | Code::Cancelled => "it does not answer in time".to_owned(),
        Code::Unauthenticated => "it does not accept the key or the certificate".to_owned(),
        Code::PermissionDenied => format!("the key or the certificate may not do that: {}", said()),
        Code::ResourceExhausted => format!("it is asked for too much: {}", said()),
        Code::Unimplemented => "it does not speak the protocol of Temporal".to_owned(),
        Code::Ok
        | Code::Unknown
        | Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange
        | Code::Internal
        | Code::DataLoss => said(),
    }
}

/// An error of a call, which may be an answer of the server.
pub trait CallError: StdError {
    /// Returns what the server, or the way to it, said.
    fn status(&self) -> Option<&Status>;
}

impl CallError for Status {
    fn status(&self) -> Option<&Status> {
        Some(self)
    }
}

/// Says where an error has the answer of the server.
macro_rules! call_error {
    ($type:ident) => {
        impl CallError for $type {
            fn status(&self) -> Option<&Status> {
                match self {
                    $type::NotFound(status) | $type::Rpc(status) => Some(status),
                    _ => None,
                }
            }
        }
    };
}

call_error!(WorkflowInteractionError);
call_error!(WorkflowUpdateError);

impl CallError for WorkflowStartError {
    fn status(&self) -> Option<&Status> {
        match self {
            WorkflowStartError::AlreadyStarted { source, .. } => Some(source),
            WorkflowStartError::Rpc(status) => Some(status),
            _ => None,
        }
    }
}

/// Makes the error of a call that failed.
pub fn refused(doing: &'static str, error: &impl CallError) -> Error {
    let Some(status) = error.status() else {
        return Error::Server { doing, reason: clipped(&whole(error)) };
    };
    let reason = of_status(status);
    match status.code() {
        Code::PermissionDenied | Code::Unauthenticated => Error::Denied { doing, reason },
        Code::Unavailable | Code::DeadlineExceeded => Error::Lost { doing, reason },
        _ => Error::Server { doing, reason },
    }
}

/// Says whether the same call may succeed a little later.
pub fn is_passing(error: &impl CallError) -> bool {
    error.status().is_some_and(|status| {
        matches!(status.code(), Code::Unavailable | Code::ResourceExhausted | Code::Aborted)
    })
}

/// Says what stood in the way to a server.
fn of_transport(error: &(dyn StdError + 'static)) -> String {
    let mut next = Some(error);
    let mut last = error;
    while let Some(error) = next {
        last = error;
        let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        match kind {
            Some(ErrorKind::ConnectionRefused) => return "nobody listens there".to_owned(),
            Some(ErrorKind::TimedOut) => return "it does not answer".to_owned(),
            Some(ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable) => {
                return "no way leads there".to_owned();
            }
            Some(_) | None => {}
        }
        next = error.source();
    }
    let text = format!("{error:?} {last}");
    let of_certificate = CERTIFICATES.iter().find(|(mark, _)| text.contains(mark));
    if let Some((_, said)) = of_certificate {
        return (*said).to_owned();
    }
    if text.contains("lookup") || text.contains("dns") {
        return "no machine of this name is found".to_owned();
    }
    if text.contains("deadline") || text.contains("Timeout") || text.contains("timed out") {
        return "it does not answer".to_owned();
    }
    if text.contains("reset") || text.contains("BrokenPipe") || text.contains("closed") {
        return "it broke the connection off".to_owned();
    }
    if text.contains("h2 protocol") || text.contains("http2") || text.contains("FRAME_SIZE") {
        return "it does not speak the protocol of Temporal".to_owned();
    }
    clipped(&last.to_string())
}

/// Cuts a text of a server to one line that people read.
pub fn clipped(text: &str) -> String {
    clipped_to(text, TEXT_BYTES_MAX)
}

/// Does the same with a text of at most so many bytes.
pub fn clipped_to(text: &str, bytes_max: usize) -> String {
    let line = text.replace('\n', " ");
    let mut end = line.len().min(bytes_max);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line[..end].to_owned()
}
