//! The predicates of sessions: their names and columns, what a row says and what it is read from.

use agentic_query::QueryType::{
    Cid, Commit, Duration, Float, Instant, Int, Request, Session, Text,
};
use agentic_query::{FactColumn, FactPredicate, column};
use agentic_replay::{RecordChain, SessionId};

use super::reading::ReadSessions;
use super::row::SessionRows;
use super::scope::SessionScope;
use super::{behaviour, decision, hold, library, request, session, trace, trial, usage};
use crate::Result;

/// A predicate of sessions: how it is described, and how its rows are read.
pub(super) struct SessionPredicate {
    name: &'static str,
    meaning: &'static str,
    origin: &'static str,
    columns: &'static [FactColumn],
    /// What its column `state` says of sessions that are not over.
    pub(super) open_states: &'static [&'static str],
    /// How its rows are read.
    pub(super) reader: RowReader,
}

/// How the rows of a predicate are read.
#[derive(Clone, Copy)]
pub(super) enum RowReader {
    /// Of each session by itself; its journal is read where that is needed.
    Session(fn(&SessionId, &ReadSessions<'_>, &mut SessionRows<'_, '_>)),
    /// From the journal of each session.
    Journal(fn(&SessionId, &RecordChain, &ReadSessions<'_>, &mut SessionRows<'_, '_>)),
    /// From agents and their sessions together.
    Space(fn(&ReadSessions<'_>, &SessionScope, &mut SessionRows<'_, '_>) -> Result<()>),
}

const RECORDS: &str = "records of sessions";
const OF_REQUEST: FactColumn = column("request", Request, "the request");
const OF_SESSION: FactColumn = column("session", Session, "the session");

static PREDICATES: [SessionPredicate; 25] = [
    SessionPredicate {
        open_states: &["running", "held", "waiting", "diverged"],
        reader: RowReader::Session(session::session),
        name: "session",
        meaning: "A program runs, or ran, durably on behalf of an agent.",
        origin: "records of sessions; those of other hosts as far as they are sealed",
        columns: &[
            column("id", Session, "its id"),
            column("agent", Text, "the agent that it runs as"),
            column("host", Text, "`here` if its records are kept here, else `elsewhere`"),
            column("flow", Cid, "the program that it runs now"),
            column("language", Text, "the language of the program"),
            column("key", Text, "its start key"),
            column(
                "state",
                Text,
                "`running`, `held`, `waiting`, `done`, `failed`, `cancelled` or `diverged`",
            ),
            column("started", Instant, "when it was started"),
            column("ended", Instant, "when it came to its end; null while it has not"),
            column(
                "records",
                Int,
                "how many records it has, those shared with its parent included",
            ),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Session(session::forked),
        name: "forked",
        meaning: "A session was forked from another.",
        origin: "the first record of a session",
        columns: &[
            OF_SESSION,
            column("from", Session, "the session that it was forked from"),
            column("seq", Int, "the first position that they do not share"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Session(session::child),
        name: "child",
        meaning: "A session was begun by another, and answers to it.",
        origin: "the start key of a session",
        columns: &[OF_SESSION, column("parent", Session, "the session that has begun it")],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(session::continued),
        name: "continued",
        meaning: "A session is over, and goes on as a new one.",
        origin: RECORDS,
        columns: &[OF_SESSION, column("next", Session, "the new one")],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(session::result),
        name: "result",
        meaning: "A session gave something.",
        origin: RECORDS,
        columns: &[OF_SESSION, column("value", Text, "the content of a text, else JSON")],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(session::failure),
        name: "failure",
        meaning: "A session failed; or it waits, and nobody can answer what it asks.",
        origin: RECORDS,
        columns: &[
            OF_SESSION,
            column("code", Text, "what sort of failure"),
            column("message", Text, "what happened"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(request::requests),
        name: "request",
        meaning: "A session asked something of the world.",
        origin: "records of sessions; those that a fork shares are its parent's",
        columns: &[
            column("id", Request, "its id"),
            OF_SESSION,
            column("seq", Int, "the position of its record"),
            column("path", Text, "where in the program"),
            column("kind", Text, "what sort"),
            column(
                "class",
                Text,
                "`pure`, `read`, `idempotent` or `once`; `decision` or `timer` where nothing is \
                 performed",
            ),
            column("at", Instant, "when it was asked"),
            column("hash", Text, "the hash of what was asked"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(request::payloads),
        name: "payload",
        meaning: "A request has data.",
        origin: RECORDS,
        columns: &[OF_REQUEST, column("value", Text, "the content of a text, else JSON")],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(request::attempts),
        name: "attempt",
        meaning: "An attempt at an effect failed, and another one made it good, or will.",
        origin: RECORDS,
        columns: &[
            OF_REQUEST,
            column("n", Int, "which one, from 1"),
            column("error", Text, "what happened"),
            column("next", Instant, "when the next one was due; null where somebody has to go on"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(request::answers),
        name: "answer",
        meaning: "A request was answered.",
        origin: RECORDS,
        columns: &[
            OF_REQUEST,
            column("outcome", Text, "`ok`, `failed`, `timed-out` or `cancelled`"),
            column(
                "by",
                Text,
                "`executor`, `timer`, `decision COMMIT`, `child SESSION`, `edited WHO`, \
                 `signal SEQ` or `system WHAT`",
            ),
            column("at", Instant, "when it was answered"),
            column("millis", Duration, "how long after it was asked"),
            column(
                "value",
                Text,
                "what it gave; of a failure JSON with `code`, `message`, `details`",
            ),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(request::signals),
        name: "signal",
        meaning: "Something reached a session from outside.",
        origin: RECORDS,
        columns: &[
            OF_SESSION,
            column("name", Text, "its name"),
            column("at", Instant, "when it was received"),
            column("value", Text, "the content of a text, else JSON"),
        ],
    },
    SessionPredicate {
        open_states: &["open"],
        reader: RowReader::Journal(hold::holds),
        name: "hold",
        meaning: "A request waits, or waited, for a person.",
        origin: "records of sessions, decisions on the branch of the agent, the clock",
        columns: &[
            OF_REQUEST,
            column("agent", Text, "the agent"),
            OF_SESSION,
            column("reason", Text, "`asked`, `not-allowed` or `in-doubt`"),
            column("question", Text, "what is asked, where the program says so"),
            column("at", Instant, "since when"),
            column("state", Text, "`open`, `decided`, `expired`, `withdrawn` or `cancelled`"),
            column("deadline", Instant, "until when it could be decided, after its escalations"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(hold::assignees),
        name: "assignee",
        meaning: "Somebody may decide a hold; one without anybody may be decided by all.",
        origin: "payloads of requests",
        columns: &[
            OF_REQUEST,
            column("who", Text, "a principal, such as `user:ada` or `role:lead`"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(hold::votes),
        name: "vote",
        meaning: "Somebody voted where several people must agree.",
        origin: "records of sessions; of open holds, the decisions that count",
        columns: &[
            OF_REQUEST,
            column("who", Text, "who voted"),
            column("action", Text, "for what"),
            column("commit", Commit, "the commit that holds the vote"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(decision::decisions),
        name: "decision",
        meaning: "A commit says that it decides a request.",
        origin: "own commits of agents, held against the records of sessions",
        columns: &[
            column("commit", Commit, "the commit"),
            column("request", Request, "the request, where the commit names its session too"),
            column(
                "action",
                Text,
                "`approve`, `reject`, `edit`, `respond`, `expire` or `withdrawn`",
            ),
            column("who", Text, "who it says decided"),
            column("at", Instant, "when it says that it was made"),
            column("standing", Text, "`counted`, `late` or `unverified`"),
            column("value", Text, "the content of a text, else JSON"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(usage::usages),
        name: "usage",
        meaning: "A model told what it cost.",
        origin: "`meta.usage` of trace entries, and answers of model requests",
        columns: &[
            column("trace", Cid, "the trace; null where a request tells"),
            column("request", Request, "the request; null where a trace tells"),
            column("n", Int, "the number of the entry in its trace"),
            column("agent", Text, "the agent"),
            column("model", Text, "the model, as the program or the trace calls it"),
            column("at", Instant, "when"),
            column("input", Int, "tokens read"),
            column("output", Int, "tokens written"),
            column("cache_read", Int, "tokens read from a cache"),
            column("cache_write", Int, "tokens written to a cache"),
            column("cost", Float, "as the source says, else by `agentic.price`"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(trace::test_results),
        name: "test_result",
        meaning: "Tests were run.",
        origin: "trace entries of kind `test-result` whose text is `{\"passed\":N,\"failed\":N}`",
        columns: &[
            column("trace", Cid, "the trace"),
            column("n", Int, "the number of the entry in it"),
            column("agent", Text, "the agent"),
            column("passed", Int, "how many passed"),
            column("failed", Int, "how many failed"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(behaviour::uses),
        name: "uses_behaviour",
        meaning: "A behaviour made a commit, or the commit says so.",
        origin: "records of sessions, own lines of agents, and trailers",
        columns: &[
            column("commit", Commit, "the commit"),
            column("cid", Cid, "the behaviour"),
            column(
                "how",
                Text,
                "`record` if records of a session say so, `pin` if its agent had it then, else `claim`",
            ),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(behaviour::runs),
        name: "runs",
        meaning: "A session ran a program.",
        origin: RECORDS,
        columns: &[
            OF_SESSION,
            column("cid", Cid, "the program"),
            column("seq", Int, "the position of the record that says so"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Journal(behaviour::made),
        name: "made",
        meaning: "A session made a commit.",
        origin: RECORDS,
        columns: &[
            OF_SESSION,
            column("commit", Commit, "the commit"),
            column("at", Instant, "when the session was told"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(library::behaviours),
        name: "behaviour",
        meaning: "There is a behaviour: the library has it, or a session ran it.",
        origin: "the library of behaviours, and records of sessions",
        columns: &[
            column("cid", Cid, "the behaviour"),
            column("form", Text, "`flow` or `prompt`"),
            column("language", Text, "the language of a flow"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(library::adopted),
        name: "adopted",
        meaning: "A behaviour is in force here by a name.",
        origin: "the library of behaviours, and what of it was not taken over",
        columns: &[
            column("name", Text, "the name"),
            column("cid", Cid, "the behaviour"),
            column("at", Instant, "since when"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(library::adoptions),
        name: "adoption",
        meaning: "Somebody let a name mean another behaviour.",
        origin: "the commits of the library of behaviours",
        columns: &[
            column("commit", Commit, "the adoption"),
            column("name", Text, "the name"),
            column("from", Cid, "what it meant before; null of the first one"),
            column("to", Cid, "what it means since then"),
            column("by", Text, "who decided it"),
            column("at", Instant, "when"),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(trial::trials),
        name: "trial",
        meaning: "A trial of behaviours is over, and its session here bears it out.",
        origin: "objects in the notes of agents, held against records of sessions",
        columns: &[
            column("cid", Cid, "its object"),
            column("agent", Text, "its agent"),
            column(
                "verdict",
                Text,
                "`better`, `worse`, `no-difference` or `inconclusive`, as it was judged first",
            ),
        ],
    },
    SessionPredicate {
        open_states: &[],
        reader: RowReader::Space(trial::scores),
        name: "score",
        meaning: "A run of a trial was scored, or not.",
        origin: "objects of trials that sessions here bear out",
        columns: &[
            column("trial", Cid, "the trial"),
            column("task", Int, "the number of the task"),
            column("arm", Cid, "the behaviour that ran"),
            column("run", Int, "the number of the block, from 0"),
            column("agent", Text, "the agent of the run"),
            column("value", Float, "the score; null without one"),
            column("verdict", Text, "`pass` or `fail`; without a score what became of the run"),
        ],
    },
];

impl SessionPredicate {
    /// Finds the predicate of a number.
    pub(super) fn of(number: usize) -> Option<&'static SessionPredicate> {
        PREDICATES.get(number)
    }

    /// Describes all of them, in the order of their numbers.
    pub(super) fn described() -> Vec<FactPredicate> {
        let described = |it: &SessionPredicate| {
            FactPredicate::described(it.name, [it.meaning, it.origin], it.columns)
        };
        PREDICATES.iter().map(described).collect()
    }
}
