//! Every verb that writes, with what it needs beforehand.

use agentic_testkit::Setup;

/// A verb that writes.
pub struct Verb {
    /// What is tested.
    pub name: &'static str,
    /// The repositories.
    pub setup: Setup,
    /// What is there before: a script.
    pub before: &'static str,
    /// The verb itself: a script whose last command is the verb.
    pub run: &'static str,
    /// How it may end when it is run again after it was done.
    pub again: &'static [i32],
    /// How much of it is there after a crash.
    pub whole: Whole,
}

/// How much of a verb is there after a crash and the next command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// All of it or nothing.
    Always,
    /// Each agent's part or nothing of it; running the verb again completes it.
    EachPart,
}

/// A verb on one agent `alice`.
const fn on_alice(name: &'static str, before: &'static str, run: &'static str) -> Verb {
    Verb { name, setup: Setup::Repository, before, run, again: &[0, 1, 3], whole: Whole::Always }
}

/// All verbs that write.
pub const VERBS: &[Verb] = &[
    on_alice("spawn", "", "agentic spawn alice -m 'fix it'"),
    on_alice("spawn in a repository that is in use", "agentic spawn bob -m x", "agentic spawn alice -m y"),
    on_alice(
        "spawn --from",
        "agentic spawn zoe -m x
         echo '{\"a\":\"1\"}' | agentic commit --agent zoe -m one --stdin",
        "agentic spawn alice --from zoe -m y",
    ),
    on_alice(
        "spawn --from a head that git made",
        "agentic spawn zoe -m x
         git update-ref refs/heads/agents/zoe $(git commit-tree -p agents/zoe -m plain main^{tree})",
        "agentic spawn alice --from zoe -m y",
    ),
    on_alice(
        "commit --stdin",
        "agentic spawn alice -m x
         echo '{\"a/b\":\"1\",\"c\":\"2\"}' | agentic commit --agent alice -m one --stdin",
        "echo '{\"a/b\":\"3\"}' | agentic commit --agent alice -m two --stdin",
    ),
    on_alice(
        "commit in a worktree",
        "agentic spawn alice -m x --at main --worktree ../alice
         echo 1 > ../alice/README.md; echo 2 > ../alice/new",
        "agentic -C ../alice commit -m one",
    ),
    on_alice(
        "commit --stdin under a worktree",
        "agentic spawn alice -m x --at main --worktree ../alice",
        "echo '{\"README.md\":\"1\",\"new\":\"2\"}' | agentic commit --agent alice -m one --stdin",
    ),
    on_alice(
        "commit --stdin that adds, changes and removes files of a worktree",
        "agentic spawn alice -m x --at main --worktree ../alice
         cd ../alice; mkdir d; echo 1 >d/a; echo 1 >b; ln -s b link; echo 1 >d/stays; agentic commit -m one; cd -",
        "echo '{\"d/a\":null,\"b\":\"2\",\"c/d/e\":\"3\",\"link\":null}' | agentic commit --agent alice -m two --stdin",
    ),
    on_alice(
        "commit --trace",
        "agentic spawn alice -m x
         agentic trace add --agent alice first; agentic trace add --agent alice second",
        "echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin --trace",
    ),
    on_alice(
        "commit --trace in a worktree",
        "agentic spawn alice -m x --at main --worktree ../alice
         agentic trace add --agent alice first; agentic trace add --agent alice second
         echo 1 > ../alice/README.md",
        "agentic -C ../alice commit -m one --trace --field 'severity=\"high\"'",
    ),
    on_alice(
        "commit on a branch that git made",
        "git branch agents/alice main",
        "echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin",
    ),
    on_alice(
        "merge into an agent",
        "agentic spawn alice -m x; agentic spawn bob --from alice -m y
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin
         echo '{\"b\":\"1\"}' | agentic commit --agent bob -m two --stdin
         agentic trace add --agent alice first",
        "agentic merge bob --into alice --trace",
    ),
    on_alice(
        "merge into main",
        "agentic spawn alice --at main -m x
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin",
        "agentic merge alice --into main",
    ),
    on_alice("trace add", "agentic spawn alice -m x", "agentic trace add --agent alice first"),
    on_alice(
        "trace add on a branch that a person rebased",
        "agentic spawn alice -m x --at main; agentic trace add --agent alice first
         git commit -q --allow-empty -m onward; git checkout -q agents/alice
         git rebase -q main; git checkout -q main",
        "agentic trace add --agent alice second",
    ),
    Verb {
        whole: Whole::EachPart,
        ..on_alice(
            "trace add on a branch that begins elsewhere by now",
            "agentic spawn alice -m x --at main; agentic trace add --agent alice first
             git branch -qf agents/alice main",
            "agentic trace add --agent alice second",
        )
    },
    on_alice(
        "spawn under a name that was free again",
        "agentic spawn alice -m x; agentic trace add --agent alice first
         git branch -qD agents/alice; git update-ref -d refs/notes/agentic/alice",
        "agentic spawn alice -m y",
    ),
    on_alice(
        "trace add of a long text",
        "agentic spawn alice -m x; agentic trace add --agent alice first",
        "seq 30000 | agentic trace add --agent alice -",
    ),
    on_alice(
        "trace attach",
        "agentic spawn alice -m x
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin
         agentic trace add --agent alice first; agentic trace add --agent alice second",
        "agentic trace attach agents/alice --agent alice",
    ),
    on_alice(
        "trace attach over another trace",
        "agentic spawn alice -m x
         agentic trace add --agent alice first
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin --trace
         agentic trace add --agent alice second",
        "agentic trace attach agents/alice --agent alice",
    ),
    on_alice(
        "relate",
        "agentic spawn alice -m x; agentic spawn bob -m y",
        "agentic relate alice reviews bob",
    ),
    on_alice(
        "unrelate",
        "agentic spawn alice -m x; agentic relate user:eve reviews alice",
        "agentic unrelate user:eve reviews alice",
    ),
    on_alice("kind add", "", "agentic kind add bugfix -m 'a fix'"),
    on_alice("rule add", "", "echo 'p(1). ? p(X).' | agentic rule add fresh -"),
    on_alice(
        "rule add that moves a name",
        "echo 'p(1).' | agentic rule add base -; echo 'use base. ? p(X).' | agentic rule add fresh -",
        "echo 'use base. ? p(X), X > 0.' | agentic rule add fresh - -m better",
    ),
    on_alice(
        "rule remove",
        "echo 'p(1). ? p(X).' | agentic rule add fresh -",
        "agentic rule remove fresh",
    ),
    on_alice(
        "object put",
        "agentic spawn alice -m x",
        "echo '{\"type\":\"plan\",\"steps\":[1,2]}' | agentic object put - --agent alice",
    ),
    on_alice(
        "a commit of 12 MiB",
        "agentic spawn alice -m x; head -c 9000000 /dev/urandom | base64 -w0 > ../big",
        "(printf '{\"big\":{\"base64\":\"'; cat ../big; printf '\"}}') |
             agentic commit --agent alice -m big --stdin",
    ),
    on_alice(
        "a commit of a large file in a worktree",
        "agentic spawn alice -m x --at main --worktree ../alice
         head -c 8400000 /dev/urandom > ../alice/big; echo 1 > ../alice/README.md",
        "agentic -C ../alice commit -m big",
    ),
    on_alice(
        "a commit of 150 files",
        "agentic spawn alice -m x",
        "(printf '{\"f0\":\"0\"'; for n in $(seq 150); do printf ',\"f%s\":\"text %s\"' $n $n; done; printf '}') |
             agentic commit --agent alice -m many --stdin",
    ),
    on_alice(
        "a commit of 150 files that makes one pack of many",
        "agentic spawn alice -m x
         for round in $(seq 32); do
             (printf '{\"g\":\"%s\"' $round
              for n in $(seq 150); do printf ',\"f%s\":\"text %s %s\"' $n $n $round; done; printf '}') |
                 agentic commit --agent alice -m many --stdin
         done",
        "(printf '{\"f0\":\"0\"'; for n in $(seq 150); do printf ',\"f%s\":\"text %s\"' $n $n; done; printf '}') |
             agentic commit --agent alice -m many --stdin",
    ),
    on_alice(
        "commit that cuts the logs of agents at rest",
        "export AGENTIC_NOW=1799990000000
         agentic spawn alice -m x; agentic spawn bob -m y; agentic trace add --agent bob first
         echo '{\"a\":\"1\"}' | agentic commit --agent bob -m one --stdin --trace
         agentic trace add --agent bob second; agentic relate bob reviews alice",
        "echo '{\"a\":\"2\"}' | agentic commit --agent alice -m two --stdin",
    ),
    on_alice(
        "trace add that cuts the oldest part of a log",
        "export AGENTIC_NOW=1799990000000; agentic spawn alice -m x
         head -c 900000 /dev/urandom | base64 -w0 > ../big
         (printf '{\"big\":\"'; cat ../big; printf '\"}') | agentic commit --agent alice -m big --stdin
         agentic trace add --agent alice first
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin --trace",
        "agentic trace add --agent alice second",
    ),
    on_alice(
        "archive",
        "agentic spawn alice -m x; agentic spawn bob --from alice -m y
         agentic trace add --agent alice first
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin --trace",
        "agentic archive alice bob",
    ),
    on_alice(
        "archive of an agent that has rested, beside others",
        "agentic spawn alice -m x; agentic spawn zoe -m y; agentic archive zoe
         git pack-refs --all; git branch agents/bob main",
        "AGENTIC_NOW=1800001000000 agentic archive alice bob",
    ),
    on_alice(
        "restore",
        "agentic spawn alice -m x; agentic trace add --agent alice first
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin --trace
         agentic archive alice",
        "agentic archive --restore alice",
    ),
    on_alice(
        "restore of an agent that had rested",
        "agentic spawn alice -m x; AGENTIC_NOW=1800001000000 agentic archive alice",
        "agentic archive --restore alice",
    ),
    Verb {
        whole: Whole::EachPart,
        ..on_alice(
            "worktree sync where a write died before the files followed that were edited then",
            "agentic spawn alice -m x --at main --worktree ../alice
             seq 9 >../alice/n; seq 9 >../alice/m; agentic -C ../alice commit -m nine
             text=$(printf '%s\\\\n' $(seq 10))
             printf '{\"n\":\"%s\",\"m\":\"%s\"}' \"$text\" \"$text\" >../ten",
            "env -u AGENTIC_FAIL_AT AGENTIC_CRASH_AT=before-follow \\
                 agentic commit --agent alice -m ten --stdin <../ten || true
             sed -i 's/^1$/one/' ../alice/n ../alice/m
             agentic worktree sync alice",
        )
    },
    Verb {
        name: "worktree add",
        setup: Setup::Repository,
        before: "agentic spawn alice -m x --at main
         echo '{\"a\":\"1\"}' | agentic commit --agent alice -m one --stdin",
        run: "agentic worktree add alice ../alice",
        again: &[1],
        whole: Whole::EachPart,
    },
    Verb {
        name: "fetch",
        setup: Setup::TwoSpaces,
        before: "agentic init; agentic -C ../there init
         agentic spawn alice -m x; agentic spawn bob -m y; agentic push
         agentic -C ../there fetch --adopt alice
         agentic relate alice reviews bob
         echo '{\"a\":\"1\"}' | agentic -C ../there commit --agent alice -m one --stdin
         agentic -C ../there kind add bugfix; agentic -C ../there push alice",
        run: "agentic fetch",
        again: &[0],
        whole: Whole::EachPart,
    },
    Verb {
        name: "fetch of rules that were changed here and there",
        setup: Setup::TwoSpaces,
        before: "agentic init; agentic -C ../there init
         echo 'p(1). ? p(X).' | agentic rule add fresh -; agentic push; agentic -C ../there fetch
         echo 'p(2). ? p(X).' | agentic -C ../there rule add fresh -
         echo 'q(2). ? q(X).' | agentic -C ../there rule add other -; agentic -C ../there push
         echo 'p(3). ? p(X).' | agentic rule add fresh -",
        run: "agentic fetch",
        again: &[0],
        whole: Whole::EachPart,
    },
];
