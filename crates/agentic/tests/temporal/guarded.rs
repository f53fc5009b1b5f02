//! A server behind TLS, with certificates that are made on the spot.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use agentic_testkit::TemporalServer;

/// What speaks TLS before the server.
const PROXY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/temporal/tls_proxy.py");
/// The name that the certificate of the server has.
pub const NAME: &str = "temporal.test";
/// The key that the server wants.
pub const KEY: &str = "seatcoaster0012";

/// A proxy that speaks TLS before a server, and wants a certificate and a key. It ends when dropped.
pub struct GuardedServer {
    proxy: Child,
    port: String,
    folder: PathBuf,
}

impl GuardedServer {
    /// Makes certificates, and puts a proxy before a server.
    pub fn before(server: &TemporalServer, folder: &Path) -> GuardedServer {
        GuardedServer::without(server, folder, "")
    }

    /// Does the same, where nobody may call a method.
    pub fn without(server: &TemporalServer, folder: &Path, method: &str) -> GuardedServer {
        std::fs::create_dir_all(folder).expect("the sandbox is writable");
        for ca in ["ca", "other"] {
            let asked = format!(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={ca} -keyout {ca}.key -out {ca}.pem"
            );
            openssl(folder, &asked);
        }
        std::fs::write(folder.join("names"), format!("subjectAltName=DNS:{NAME}\n"))
            .expect("the sandbox is writable");
        for who in ["server", "client"] {
            let asked = format!(
                "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN={who} -keyout {who}.key -out {who}.csr"
            );
            openssl(folder, &asked);
            let signed = format!(
                "x509 -req -in {who}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out {who}.pem"
            );
            openssl(folder, &signed);
        }
        let address = server.address();
        let upstream = address.rsplit_once(':').expect("it has a port").1;
        let mut proxy = Command::new("python3")
            .args([PROXY, upstream, "ca.pem", "server.pem", "server.key", KEY, method])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a Python");
        let mut port = String::new();
        let said = proxy.stdout.take().expect("it is a pipe");
        BufReader::new(said).read_line(&mut port).expect("it says its port");
        GuardedServer { proxy, port: port.trim().to_owned(), folder: folder.to_owned() }
    }

    /// Returns its address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns a table of a configuration that names it, with these certificates.
    pub fn table(&self, ca: &str, tls: &str) -> String {
        let (address, folder) = (self.address(), self.folder.display());
        format!(
            "[temporal]\naddress = \"{address}\"\napi_key_env = \"KEY\"\n\
             tls = {{ ca = \"{folder}/{ca}.pem\", server_name = \"{NAME}\"{tls} }}\n"
        )
    }

    /// Returns what names the certificate of the client.
    pub fn identity(&self) -> String {
        let folder = self.folder.display();
        format!(", cert = \"{folder}/client.pem\", key = \"{folder}/client.key\"")
    }
}

impl Drop for GuardedServer {
    fn drop(&mut self) {
        let _it_may_have_ended = self.proxy.kill();
        let _it_may_have_ended = self.proxy.wait();
    }
}

fn openssl(folder: &Path, line: &str) {
    let made = Command::new("openssl").args(line.split(' ')).current_dir(folder).output();
    let made = made.expect("there is openssl");
    assert!(made.status.success(), "{line}: {}", String::from_utf8_lossy(&made.stderr));
}
