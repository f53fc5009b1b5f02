//! Connections to a server.

use std::str::FromStr as _;
use std::time::Duration;

use temporalio_client::tonic::{Code, IntoRequest as _};
use temporalio_client::{
    Client, ClientOptions, ClientTlsOptions, Connection, ConnectionOptions, TlsOptions, Url,
};
use temporalio_common::protos::temporal::api::workflowservice::v1::DescribeNamespaceRequest;
use tokio::runtime::Runtime;

use crate::settings::{ServerSettings, TlsFiles};
use crate::words::{of_connection, of_status};
use crate::{Error, Result};

/// How long a server may take to answer for the first time.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

impl ServerSettings {
    /// Connects to the server.
    ///
    /// # Errors
    /// Fails when nobody answers in five seconds, or nobody who speaks this protocol, and when the
    /// namespace is not there.
    pub(crate) async fn connect(&self) -> Result<Client> {
        let connected = tokio::time::timeout(CONNECT_WITHIN, self.connected()).await;
        connected.unwrap_or_else(|_| Err(self.unreachable("it does not answer".to_owned())))
    }

    async fn connected(&self) -> Result<Client> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let url = Url::from_str(&format!("{scheme}://{}", self.address.authority()));
        let url = url.map_err(|error| self.unreachable(error.to_string()))?;
        let options = ConnectionOptions::new(url)
            .identity(format!("agentic-{}", std::process::id()))
            .connect_timeout(CONNECT_WITHIN)
            .maybe_tls_options(self.tls.as_ref().map(tls_options))
            .maybe_api_key(self.key.as_ref().map(|key| key.expose().to_owned()))
            .build();
        let connection = Connection::connect(options).await;
        let connection = connection.map_err(|error| match &error {
            temporalio_client::errors::ClientConnectError::SystemInfoCallError(status)
                if is_denial(status.code()) =>
            {
                self.denied(of_status(status))
            }
            error => self.unreachable(self.covered(of_connection(error))),
        })?;
        let namespace = self.address.namespace().to_owned();
        let ask = DescribeNamespaceRequest { namespace: namespace.clone(), ..Default::default() };
        match connection.workflow_service().describe_namespace(ask.into_request()).await {
            Ok(_) => {}
            Err(status) if status.code() == Code::NotFound => {
                let address = self.address.authority().to_owned();
                return Err(Error::NoNamespace { address, namespace });
            }
            Err(status) if status.code() == Code::Unauthenticated => {
                return Err(self.denied(of_status(&status)));
            }
            // Who may run something need not be let look at the namespace itself.
            Err(status) if status.code() == Code::PermissionDenied => {}
            Err(status) => return Err(self.unreachable(self.covered(of_status(&status)))),
        }
        let options = ClientOptions::new(namespace).build();
        Client::new(connection, options).map_err(|error| self.unreachable(error.to_string()))
    }

    fn unreachable(&self, reason: String) -> Error {
        Error::Unreachable { address: self.address.to_string(), reason }
    }

    fn denied(&self, reason: String) -> Error {
        Error::Denied { doing: "in", reason: self.covered(reason) }
    }

    /// Covers the key up, whoever repeats it.
    fn covered(&self, text: String) -> String {
        match &self.key {
            Some(key) => key.cover(&text),
            None => text,
        }
    }
}

/// Makes what speaks to a server, with so many threads.
pub(crate) fn runtime(n_threads: usize) -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let built = builder.worker_threads(n_threads).enable_all().build();
    built.map_err(|error| Error::Runtime(error.to_string()))
}

fn is_denial(code: Code) -> bool {
    matches!(code, Code::PermissionDenied | Code::Unauthenticated)
}

fn tls_options(files: &TlsFiles) -> TlsOptions {
    let identity = files.identity.clone();
    let client = identity.map(|(certificate, key)| {
        ClientTlsOptions::builder().client_cert(certificate).client_private_key(key).build()
    });
    TlsOptions::builder()
        .maybe_server_root_ca_cert(files.ca.clone())
        .maybe_domain(files.server_name.clone())
        .maybe_client_tls_options(client)
        .build()
}
