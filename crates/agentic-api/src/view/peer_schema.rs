//! The JSON Schemas of what peers sign and of what is kept of them, as JSON shows these objects. Ids of
//! git are bytes: `{"/": {"bytes": …}}`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::object_schema::LinkSchema;

/// A project: what keeps that which was said in one repository from counting in another.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Project")]
pub(super) struct ProjectSchema {
    /// `project`.
    r#type: String,
    /// 1.
    v: i64,
    /// What people call it.
    name: String,
    /// Random bytes.
    nonce: Json,
}

/// One document of an identity.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Identity")]
pub(super) struct IdentitySchema {
    /// `identity`.
    r#type: String,
    /// 1.
    v: i64,
    /// The project.
    project: LinkSchema,
    /// The number, from 0.
    seq: u64,
    /// The document before; null in the first.
    previous: Option<LinkSchema>,
    /// What the owner calls itself.
    name: String,
    /// Who may write the next one.
    control: ControlSchema,
    /// The spaces that count.
    spaces: Vec<SpaceSchema>,
    /// The keys that decide in the peer's name.
    decide: Vec<String>,
    /// When it was made, in milliseconds.
    time: i64,
    /// Random bytes.
    nonce: Json,
}

/// The keys that write an identity.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IdentityControl")]
struct ControlSchema {
    /// The keys.
    keys: Vec<String>,
    /// How many of them it needs.
    need: u64,
}

/// A space of an identity.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "IdentitySpace")]
struct SpaceSchema {
    /// Its id: 16 bytes.
    space: Json,
    /// What its owner calls it.
    nick: String,
    /// The keys that announce for it.
    keys: Vec<String>,
    /// The announcement from which its chain goes on with these keys.
    resume: Option<LinkSchema>,
}

/// What a space says of itself: one signed snapshot.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Announcement")]
pub(super) struct AnnouncementSchema {
    /// `announcement`.
    r#type: String,
    /// 1.
    v: i64,
    /// The project.
    project: LinkSchema,
    /// Whose space it is.
    peer: LinkSchema,
    /// The space: 16 bytes.
    space: Json,
    /// The newest document of the identity when it was made.
    identity: LinkSchema,
    /// The number of the document that gave the space its keys.
    epoch: u64,
    /// Its own number.
    seq: u64,
    /// The announcement before.
    previous: Option<LinkSchema>,
    /// The parents of its commit.
    parents: Vec<Json>,
    /// The snapshot.
    tree: Json,
    /// `sha1` or `sha256`.
    hash: String,
    /// How many agents there are.
    entries: u64,
    /// When it was made, in milliseconds.
    time: i64,
    /// When the next one comes at the latest.
    next_by: Option<i64>,
    /// Why the chain begins anew.
    cut: Option<String>,
    /// What was set back.
    rewinds: Vec<RewindSchema>,
    /// Who has gone.
    removed: Vec<RemovalSchema>,
}

/// A tip that was set back.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AnnouncedRewind")]
struct RewindSchema {
    /// The agent.
    agent: String,
    /// `head` or `notes`.
    of: String,
    /// Where it was.
    from: Json,
    /// Where it is.
    to: Json,
    /// Why.
    why: String,
}

/// An agent that is gone.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AnnouncedRemoval")]
struct RemovalSchema {
    /// The agent.
    agent: String,
    /// Where it was.
    head: Json,
    /// Where its notes were.
    notes: Option<Json>,
    /// `archived` or `deleted`.
    why: String,
}

/// The file `record` of what was accepted of a space. What is believed and what waits stand beside it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AcceptRecord")]
pub(super) struct AcceptRecordSchema {
    /// 1.
    v: i64,
    /// The announcement.
    announcement: LinkSchema,
    /// Its commit.
    announced: Json,
    /// The newest document that was known of the identity.
    identity: LinkSchema,
    /// The commit of the policy by which it was judged.
    policy: Option<Json>,
    /// When it arrived, in milliseconds.
    time: i64,
    /// How it came: a remote or a bundle.
    way: String,
}
