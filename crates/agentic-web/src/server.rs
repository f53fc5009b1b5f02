//! Listening: on this machine's own addresses alone, and on a socket of this user.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agentic_api::verb::ForeignQueries;
use agentic_resident::{
    PageEstate, PageInheritance, Resident, ResidentError, Whereabouts, make_room,
};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower_service::Service as _;

use crate::api::KeptAnswers;
use crate::colour::ColourDesk;
use crate::entrance::{RequestEntrance, SocketPeer};
use crate::error::{Result, WebError};
use crate::host::{HostNames, PageHost, ports};
use crate::login::{LoginGrant, LoginRole, PageCode};
use crate::patience::{ReadConnection, TimedContent};
use crate::protocol::MountedProtocol;
use crate::route::router;
use crate::shown_texts::ShownTexts;
use crate::site::{PageMemory, SharedSite, WebSite, logins_at};

/// How many connections there may be, and as many through the socket, which strangers cannot fill.
const CONNECTIONS_MAX: usize = 512;
/// How many files are open for other reasons.
const OTHER_FILES_MAX: usize = 512;
/// How long the head of a request may take.
const HEAD_WAIT: Duration = Duration::from_secs(10);
/// The longest head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// How long requests under way may take when the process is told to end.
const END_WAIT: Duration = Duration::from_secs(5);
/// How many bytes the system keeps of what a connection did not take yet: as many as queued events may
/// have. On a connection of this machine it would keep megabytes else.
const SEND_BYTES: u32 = 128 << 10;
/// How many connections wait to be taken.
const WAITING_MAX: u32 = 1_024;
/// How long is waited when the system has no more connections to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How a page is served.
#[derive(Debug, Default)]
pub struct ServeOptions {
    /// The port; else one that comes from the repository's key, or the next that is free.
    pub port: Option<u16>,
    /// Under which name the page is had.
    pub host: PageHost,
    /// Whether there is only the socket.
    pub is_socket_only: bool,
    /// What is served to programs beside the page, if anything is.
    pub protocol: Option<MountedProtocol>,
    /// What the page of the program before this one has left.
    pub inheritance: Option<PageInheritance>,
}

/// Serves until the process is told to end, or is replaced. `ready` is called when the first page can be
/// had, with what makes codes that log in.
///
/// # Errors
/// Fails when no port and no socket can be had.
pub fn serve(
    resident: Resident,
    options: ServeOptions,
    ready: impl FnOnce(&Whereabouts, &dyn Fn() -> Option<PageCode>),
) -> Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(ResidentError::system("start threads"))?;
    runtime.block_on(async {
        let memory = options.inheritance.as_ref().map(|left| left.memory.clone());
        let (protocol, host) = (options.protocol.clone(), options.host);
        let listeners = Listeners::bind(&resident, options).await?;
        let hosts = listeners.port.map(|port| HostNames::new(host, &resident.key, port));
        let logins = logins_at(&resident, hosts.as_ref());
        let at = resident.say_where(hosts.as_ref().map(HostNames::origin), logins)?;
        let PageMemory { logins, sealer } = PageMemory::recall(memory)?;
        let (say_end, ended) = watch::channel(false);
        let say_end = Arc::new(say_end);
        let told = Arc::clone(&say_end);
        resident.options.stop.on_set(move || {
            told.send_replace(true);
        });
        let site = Arc::new(WebSite {
            resident,
            hosts,
            logins,
            ended,
            queries: ForeignQueries::default(),
            answers: KeptAnswers::default(),
            protocol,
            sealer,
            shown: ShownTexts::default(),
            colours: ColourDesk::default(),
        });
        ready(&at, &|| site.issue_code(LoginGrant::own(LoginRole::Decide)).ok());
        while listeners.accept(&site, &say_end).await == AcceptEnd::Replacement {
            let error = site.resident.replace(listeners.estate(&site));
            tracing::warn!(%error, "this process cannot replace itself, and goes on");
            say_end.send_replace(false);
            // Told meanwhile, it ends.
            if site.resident.options.stop.is_set() {
                say_end.send_replace(true);
            }
        }
        match site.resident.upkeep.is_replaced() {
            true => Err(ResidentError::Replaced.into()),
            false => Ok(()),
        }
    })
}

/// Why no more connections are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AcceptEnd {
    /// The process is to end.
    Told,
    /// It is to replace itself.
    Replacement,
}

struct Listeners {
    tcp: Option<TcpListener>,
    port: Option<u16>,
    socket: UnixListener,
}

impl Listeners {
    async fn bind(resident: &Resident, options: ServeOptions) -> Result<Listeners> {
        if let Some(left) = options.inheritance {
            return Listeners::inherit(left)
                .map_err(|error| ResidentError::system("listen")(error).into());
        }
        let bind = |path: &Path| UnixListener::bind(path);
        let socket = resident.folder.bind_socket(&resident.lock, bind)?;
        if options.is_socket_only {
            return Ok(Listeners { tcp: None, port: None, socket });
        }
        let tcp = bind_port(&resident.key, options.port)?;
        let port = tcp.local_addr().map_err(ResidentError::system("listen"))?.port();
        Ok(Listeners { tcp: Some(tcp), port: Some(port), socket })
    }

    /// Takes those of the program before: whoever connects meanwhile waits.
    fn inherit(left: PageInheritance) -> std::io::Result<Listeners> {
        let PageInheritance { socket, tcp, memory: _ } = left;
        let port = tcp.as_ref().map(|tcp| tcp.local_addr()).transpose()?.map(|at| at.port());
        Ok(Listeners {
            tcp: tcp.map(TcpListener::from_std).transpose()?,
            port,
            socket: UnixListener::from_std(socket)?,
        })
    }

    /// Returns what is left to the program that takes the place of this one.
    fn estate(&self, site: &SharedSite) -> PageEstate<'_> {
        PageEstate {
            socket: self.socket.as_fd(),
            tcp: self.tcp.as_ref().map(|tcp| tcp.as_fd()),
            memory: site.memory(),
        }
    }

    /// Takes connections until the process is told to end or to replace itself, and lets those under way
    /// end.
    async fn accept(&self, site: &SharedSite, say_end: &watch::Sender<bool>) -> AcceptEnd {
        // Where the system allows fewer files, connections wait.
        make_room(2 * CONNECTIONS_MAX + OTHER_FILES_MAX);
        let router = router(Arc::clone(site));
        let desk = || ConnectionDesk {
            router: router.clone(),
            permits: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            ended: site.ended.clone(),
        };
        let (strangers, own) = (desk(), desk());
        let common_dir = site.resident.space.repository().common_dir().to_owned();
        let mut stop = site.ended.clone();
        tokio::select! {
            _ = stop.wait_for(|is_ended| *is_ended) => {}
            () = site.resident.replacement.asked() => {}
            () = accept_tcp(self.tcp.as_ref(), &strangers) => {}
            () = accept_socket(&self.socket, &own, &common_dir) => {}
        }
        say_end.send_replace(true);
        site.resident.events.end_listening();
        // What takes longer is cut off.
        let ends = async { tokio::join!(strangers.end(), own.end()) };
        let _ = tokio::time::timeout(END_WAIT, ends).await;
        match site.resident.options.stop.is_set() {
            true => AcceptEnd::Told,
            false => AcceptEnd::Replacement,
        }
    }
}

/// Binds the port that was chosen, or the first that is free of those that a key gives.
fn bind_port(key: &[u8], chosen: Option<u16>) -> Result<TcpListener> {
    if let Some(port) = chosen {
        return listen(port).map_err(|source| WebError::Port { port, source });
    }
    let mut last = None;
    for port in ports(key) {
        match listen(port) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                last = Some((port, error))
            }
            Err(source) => return Err(WebError::Port { port, source }),
        }
    }
    let (port, source) = last.expect("at least one port was tried");
    Err(WebError::Port { port, source })
}

/// Listens at a port of this machine. Connections have the buffers of the listener.
fn listen(port: u16) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // As everybody who listens does: what ended lately does not keep the port.
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BYTES)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(WAITING_MAX)
}

/// What every connection is given.
#[derive(Clone)]
struct ConnectionDesk {
    router: Router,
    permits: Arc<Semaphore>,
    ended: watch::Receiver<bool>,
}

async fn accept_tcp(listener: Option<&TcpListener>, connections: &ConnectionDesk) {
    let Some(listener) = listener else { return std::future::pending().await };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Small answers are not to wait for more.
                let _ = stream.set_nodelay(true);
                connections.begin(stream, RequestEntrance::Tcp).await;
            }
            Err(error) => pause(&error).await,
        }
    }
}

async fn accept_socket(listener: &UnixListener, connections: &ConnectionDesk, common_dir: &Path) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let peer = stream.peer_cred();
                let is_ours =
                    peer.as_ref().is_ok_and(|peer| peer.uid() == agentic_resident::user_id());
                if let (Ok(peer), true) = (peer, is_ours) {
                    let entrance = RequestEntrance::Socket(SocketPeer::of(peer.pid(), common_dir));
                    connections.begin(stream, entrance).await;
                }
            }
            Err(error) => pause(&error).await,
        }
    }
}

async fn pause(error: &std::io::Error) {
    tracing::warn!(%error, "a connection could not be taken");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

impl ConnectionDesk {
    /// Serves a connection, once there is room for it.
    async fn begin<S>(&self, stream: S, entrance: RequestEntrance)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let Ok(permit) = permit else { return };
        let (router, ended) = (self.router.clone(), self.ended.clone());
        tokio::spawn(converse(stream, entrance, router, ended, permit));
    }

    /// Waits until no connection is left.
    async fn end(&self) {
        let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
        // Nobody closes the permits.
        let _ = self.permits.acquire_many(all).await;
    }
}

/// Answers the requests of one connection.
async fn converse<S>(
    stream: S,
    entrance: RequestEntrance,
    router: Router,
    mut ended: watch::Receiver<bool>,
    _permit: OwnedSemaphorePermit,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(|content| Body::new(TimedContent::new(content)));
        request.extensions_mut().insert(entrance);
        let mut router = router.clone();
        async move { router.call(request).await.map_err(|never: Infallible| never) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WAIT).max_buf_size(HEAD_BYTES_MAX);
    let connection = http.serve_connection(TokioIo::new(ReadConnection::new(stream)), answer);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        result = connection.as_mut() => {
            if let Err(error) = result {
                tracing::debug!(%error, "a connection broke");
            }
            return;
        }
        _ = ended.wait_for(|is_ended| *is_ended) => connection.as_mut().graceful_shutdown(),
    }
    let _broken = connection.await;
}
