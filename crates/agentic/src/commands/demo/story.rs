//! What the demo does: files that there are at the beginning, and the commands in order.

/// The folder of the repository itself.
pub const REPOSITORY: &str = ".";

/// One step: where it happens, what is said before it, the command, and how it ends.
pub struct StoryStep {
    /// The folder, in the repository.
    pub folder: &'static str,
    /// What is said; nothing, if empty.
    pub says: &'static str,
    /// The command: words between blanks, or in single quotes.
    pub command: &'static str,
    /// Its standard input.
    pub input: &'static str,
    /// How it must end.
    pub ends: Ends,
}

/// How a command of the demo ends.
#[derive(Clone, Copy)]
pub enum Ends {
    /// With success.
    Well,
    /// With the exit code of what waits for a human.
    Held,
    /// The demo kills it as soon as this file is there.
    KilledAt(&'static str),
}

impl StoryStep {
    const fn new(folder: &'static str, command: &'static str) -> StoryStep {
        StoryStep { folder, says: "", command, input: "", ends: Ends::Well }
    }

    const fn saying(self, says: &'static str) -> StoryStep {
        StoryStep { says, ..self }
    }

    const fn fed(self, input: &'static str) -> StoryStep {
        StoryStep { input, ..self }
    }

    const fn ending(self, ends: Ends) -> StoryStep {
        StoryStep { ends, ..self }
    }
}

/// The source file before the agent works on it.
pub const BEFORE: &str = "const TOKEN_TTL: u64 = 60;\n\nfn refresh() {}\n";
/// The same file after it.
pub const AFTER: &str = "const TOKEN_TTL: u64 = 60;\n\n/// Only one worker refreshes; the others wait.\nfn refresh() {}\n";

/// The flow of the session: a test, a question, an upload.
pub const FLOW: &str = r#"exec("echo tested >> happened");
let answer = hold("Release 1.4.1?", #{ payload: #{ version: "1.4.1" } });
if answer.action == "reject" { return "not released"; }
exec("sh upload.sh");
"released " + answer.value.version
"#;
/// The upload: it goes on while [`UPLOADING`] is there, half a minute at most.
pub const UPLOAD: &str = r#"echo uploaded >> happened
touch uploading
n=0
while [ -e uploading ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n + 1)); done
"#;
/// The file that tells that the upload is under way.
pub const UPLOADING: &str = "uploading";

/// The flow of a second session: a question that nobody has answered when the demo ends.
pub const DEPLOY: &str = r#"hold("Deploy 1.4.1 to production?", #{
  payload: #{ before: "version: 1.4.0\nreplicas: 2\n", after: "version: 1.4.1\nreplicas: 5\n" }
}).action
"#;
/// What git does not look at in the repository.
pub const IGNORED: &str = "/*.rhai\n/fix-auth/\n/happened\n/upload*\n";

/// How the repository comes to be; its output is not shown.
pub const SETUP: &[&str] = &[
    "git init --quiet --initial-branch=main .",
    "git config user.name 'Ada Example'",
    "git config user.email ada@example.com",
    "git config commit.gpgSign false",
    "git add .",
    "git commit --quiet --message=Start",
];

/// Until the agent edits the source file.
pub const BEGINNING: &[StoryStep] = &[StoryStep::new(
    REPOSITORY,
    "agentic spawn fix-auth -m 'Fix the token refresh race' --worktree fix-auth",
)
.saying("An agent is a branch, seeded by a briefing, here with a worktree of its own.")];

/// What agents do, and how their work comes together.
pub const WORK: &[StoryStep] = &[
    StoryStep::new(
        "fix-auth",
        "agentic trace add --kind tool 'cargo test refresh: 2 workers refreshed at once'",
    )
    .saying("What it saw and said is appended to its trace, durable at once."),
    StoryStep::new(
        "fix-auth",
        "agentic commit -m 'Let one worker refresh' --kind refactor --field 'severity=\"high\"' --trace",
    )
    .saying("What it did is a typed commit; the trace is bound to it as a git note."),
    StoryStep::new(REPOSITORY, "agentic spawn review --from fix-auth -m 'Review the fix'")
        .saying("A sub-agent begins where its parent stands, and needs no worktree to commit."),
    StoryStep::new(
        REPOSITORY,
        "agentic commit --agent review -m 'Waiters need a deadline' --kind finding --stdin",
    )
    .fed("{\"REVIEW.md\": \"A waiter may wait for ever.\\n\"}"),
    StoryStep::new(REPOSITORY, "agentic relate review reviews fix-auth").saying(
        "Who reviews whom is asserted; who came from whom and who merged follows from commits.",
    ),
    StoryStep::new(REPOSITORY, "agentic merge review --into fix-auth"),
    StoryStep::new(REPOSITORY, "agentic merge fix-auth --into main -m 'Take the fix'"),
    StoryStep::new(REPOSITORY, "agentic tree").saying("The family of agents, and what holds between them."),
    StoryStep::new(REPOSITORY, "agentic relations"),
];

/// A session: held, decided, killed, asked what happened, forked.
pub const SESSION: &[StoryStep] = &[
    StoryStep::new(REPOSITORY, "agentic spawn release -m 'Release the fix'")
        .saying("A session is a durable run of a flow. What only a human may decide, it holds."),
    StoryStep::new(REPOSITORY, "agentic session start release --flow release.rhai --allow exec --key 1.4.1")
        .ending(Ends::Held),
    StoryStep::new(REPOSITORY, "agentic pending"),
    StoryStep::new(REPOSITORY, "agentic decide release approve -m 'Tests are green'")
        .saying(
            "A decision is a commit, durable before anything follows. Here the process is killed in what follows.",
        )
        .ending(Ends::KilledAt(UPLOADING)),
    StoryStep::new(REPOSITORY, "agentic session resume release")
        .saying(
            "The session goes on from its records. Nothing is done twice; what may have happened is a question.",
        )
        .ending(Ends::Held),
    StoryStep::new(REPOSITORY, "agentic pending"),
    StoryStep::new(REPOSITORY, "cat happened"),
    StoryStep::new(
        REPOSITORY,
        "agentic decide release respond --value '{\"status\": 0}' -m 'The server has it'",
    ),
    StoryStep::new(REPOSITORY, "agentic session fork release --at 4 --as postponed")
        .saying("A fork goes another way from any record, on a branch of its own, asked anew.")
        .ending(Ends::Held),
    StoryStep::new(REPOSITORY, "agentic decide postponed reject -m 'Not on a Friday'"),
    StoryStep::new(REPOSITORY, "agentic session list"),
    StoryStep::new(REPOSITORY, "cat happened"),
];

/// A question that is left for whoever looks.
pub const QUESTION: &[StoryStep] = &[
    StoryStep::new(REPOSITORY, "agentic spawn deploy -m 'Deploy 1.4.1'")
        .saying("One question is left open. Where the demo is kept (`--keep DIR`), `agentic -C DIR serve --open` shows it on a page."),
    StoryStep::new(
        REPOSITORY,
        "agentic session start deploy --flow deploy.rhai --key deploy-1.4.1",
    )
    .ending(Ends::Held),
];

/// What stock git says to all of it.
pub const PROOF: &[StoryStep] = &[
    StoryStep::new(
        REPOSITORY,
        "git log --graph '--format=%h %an: %s' agents/release agents/postponed",
    )
    .saying("Stock git sees all of it: history, traces, and a sound repository."),
    StoryStep::new(REPOSITORY, "git log -1 --format=%s%n%N --notes=agentic/fix-auth main^2^"),
    StoryStep::new(REPOSITORY, "git log -1 --format=%s%n%N --notes=agentic/release agents/release"),
    StoryStep::new(REPOSITORY, "git fsck --strict"),
];
