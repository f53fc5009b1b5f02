//! Telling clients that a resource changed.
//!
//! Ten times a second the times of a few folders and files are looked at; where one of them moved, the
//! resources that somebody wants to hear of are read, and compared with what they were.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use agentic_api::Caller;
use agentic_session::SessionSpace;
use rmcp::model::{
    ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification,
};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};

use crate::desk::ServerDesk;
use crate::resource::ResourceName;

/// How often somebody looks.
const LOOK: Duration = Duration::from_millis(100);
/// How often everything is read, whatever the times say.
const SWEEP: Duration = Duration::from_secs(5);
/// How many resources a client may hear of.
pub const SUBSCRIBED_MAX: usize = 256;

/// When a file or folder was changed last, and how long it is.
type FileTimes = BTreeMap<PathBuf, Option<(SystemTime, u64)>>;
/// Resources that somebody wants to hear of, with the state that they heard of first, where one is known.
type WantedResources = BTreeMap<String, Option<u64>>;

/// What a client of an earlier revision wants to hear of.
#[derive(Debug, Clone, Default)]
pub struct SubscribedResources {
    wishes: Arc<Mutex<SubscriberWishes>>,
}

#[derive(Debug, Default)]
struct SubscriberWishes {
    /// The resources, each as it was when the client asked.
    uris: WantedResources,
    /// Whether somebody looks for this client.
    is_followed: bool,
}

impl SubscribedResources {
    /// Adds a resource as it is now; says whether somebody has to begin to look, and nothing if there are too
    /// many.
    pub fn add(&self, uri: String, first: u64) -> Option<bool> {
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        if wishes.uris.len() >= SUBSCRIBED_MAX && !wishes.uris.contains_key(&uri) {
            return None;
        }
        wishes.uris.insert(uri, Some(first));
        Some(!std::mem::replace(&mut wishes.is_followed, true))
    }

    /// Takes a resource out.
    pub fn remove(&self, uri: &str) {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner).uris.remove(uri);
    }

    /// Returns what is wanted; whoever is told of nothing stops to look.
    fn wanted(&self) -> WantedResources {
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        wishes.is_followed = !wishes.uris.is_empty();
        wishes.uris.clone()
    }
}

/// How resources were when they were looked at last.
#[derive(Debug, Default)]
struct ResourceLook {
    seen: BTreeMap<String, u64>,
    times: FileTimes,
    swept_at: Option<Instant>,
}

impl ResourceLook {
    /// Looks, and returns what changed since the last look, or since its first state. Where neither is
    /// known a resource did not.
    fn look(&mut self, desk: &ServerDesk, uris: &WantedResources) -> Vec<String> {
        let named: Vec<(&String, ResourceName)> =
            uris.keys().filter_map(|uri| Some((uri, ResourceName::parse(uri)?))).collect();
        let caller = desk.caller();
        let times = times(caller.space, named.iter().map(|(_, name)| name));
        let is_known = uris.keys().all(|uri| self.seen.contains_key(uri));
        let is_swept = self.swept_at.is_some_and(|at| at.elapsed() < SWEEP);
        if is_known && is_swept && times == self.times {
            return Vec::new();
        }
        (self.times, self.swept_at) = (times, Some(Instant::now()));
        let mut changed = Vec::new();
        for (uri, name) in named {
            let now = state_as(&caller, &name);
            let before = self.seen.insert(uri.clone(), now).or(uris[uri]);
            if before.is_some_and(|before| before != now) {
                changed.push(uri.clone());
            }
        }
        self.seen.retain(|uri, _| uris.contains_key(uri));
        changed
    }
}

/// Returns a number that another state of a resource does not have.
pub fn state_of(desk: &ServerDesk, uri: &str) -> u64 {
    ResourceName::parse(uri).map_or(0, |name| state_as(&desk.caller(), &name))
}

fn state_as(caller: &Caller<'_>, name: &ResourceName) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.read(caller).ok().map(|read| read.lasting()).hash(&mut hasher);
    hasher.finish()
}

/// Looks again and again, and tells what changed, until nobody wants to hear it.
async fn follow<Told: Future<Output = bool>>(
    desk: Arc<ServerDesk>,
    wanted: impl Fn() -> WantedResources,
    tell: impl Fn(String) -> Told,
) {
    let mut look = ResourceLook::default();
    loop {
        let uris = wanted();
        if uris.is_empty() {
            return;
        }
        let looked = desk.run(move |desk| {
            let changed = look.look(desk, &uris);
            Ok((look, changed))
        });
        let changed = match looked.await {
            Ok((same, changed)) => {
                look = same;
                changed
            }
            // Too much is under way: what was seen is gone with it, and the next look begins anew.
            Err(_) => {
                look = ResourceLook::default();
                Vec::new()
            }
        };
        for uri in changed {
            if !tell(uri).await {
                return;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Tells a client of an earlier revision, as long as it is there.
pub async fn follow_peer(
    desk: Arc<ServerDesk>,
    subscribed: SubscribedResources,
    peer: Peer<RoleServer>,
) {
    let tell = |uri: String| {
        let param = ResourceUpdatedNotificationParam::new(uri);
        let update = ResourceUpdatedNotification::new(param);
        let update = ServerNotification::ResourceUpdatedNotification(update);
        let peer = peer.clone();
        async move { peer.send_notification(update).await.is_ok() }
    };
    let wanted = || match peer.is_transport_closed() {
        true => WantedResources::new(),
        false => subscribed.wanted(),
    };
    follow(desk, wanted, tell).await;
}

/// Tells the client that listens, until it ends that.
pub async fn follow_listener(desk: Arc<ServerDesk>, context: &SubscriptionContext) {
    let accepted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    let uris = accepted.into_iter().take(SUBSCRIBED_MAX).map(|uri| (uri, None));
    let uris: WantedResources = uris.collect();
    let sink = context.sink();
    let tell = |uri: String| async move { sink.notify_resource_updated(uri).await.is_ok() };
    let following = follow(desk, || uris.clone(), tell);
    tokio::select! {
        () = context.cancelled() => {}
        () = async { following.await; context.cancelled().await } => {}
    }
}

/// Looks at the times of what resources are read from.
fn times<'n>(space: &SessionSpace, names: impl Iterator<Item = &'n ResourceName>) -> FileTimes {
    let (common, layout) = (space.repository().common_dir(), space.repository().layout());
    let refs = ["packed-refs", "HEAD", "refs/heads", "refs/heads/agents", "refs/notes/agentic"];
    let mut paths: Vec<PathBuf> = refs.iter().map(|path| common.join(path)).collect();
    paths.push(common.join("refs/agentic"));
    for name in names {
        let session = match name {
            ResourceName::Session(id) => Some(id.as_str()),
            ResourceName::Hold(request) => request.split('.').next(),
            ResourceName::Agent(_)
            | ResourceName::Log(_)
            | ResourceName::Briefing(_)
            | ResourceName::Commit(_)
            | ResourceName::Trace(_)
            | ResourceName::Object(_) => None,
        };
        // The folders of sessions have the first two digits of their ids.
        let Some((session, digits)) = session.and_then(|id| Some((id, id.get(..2)?))) else {
            continue;
        };
        for folder in [layout.open_sessions(), layout.ended_sessions()] {
            let folder = folder.join(digits);
            let found = fs::read_dir(&folder).into_iter().flatten().flatten();
            let is_it = |path: &PathBuf| {
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(session))
            };
            let logs = found.map(|entry| entry.path()).filter(is_it).map(|path| path.join("log"));
            paths.extend(logs);
            paths.push(folder);
        }
    }
    paths.into_iter().map(|path| (changed_at(&path), path)).map(|(at, path)| (path, at)).collect()
}

fn changed_at(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}
