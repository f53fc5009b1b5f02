//! What was announced: the chain of this space begins anew at whichever step the purge is killed.

use super::VALUE;
use super::walk::PurgeWalk;

/// A space that has announced what is to go. Others are none of its business here.
const ANNOUNCED: &str = r#"
[ -e ../hub.git ] || git init -q --bare ../hub.git
git remote add origin ../hub.git
git config remote.origin.agentic signed
ssh-keygen -q -t ed25519 -N '' -f $HOME/key
agentic peer init --name Ada --key $HOME/key
for agent in alice bob; do agentic spawn $agent -m "Work of $agent"; done
echo "log in with VALUE, then go" | agentic trace add --agent alice --kind log -
echo a >a
agentic commit --agent alice --path a -m "Did" --trace
agentic push
"#;

#[test]
fn a_chain_of_announcements_begins_anew_at_whichever_step_the_purge_is_killed() {
    let walk = PurgeWalk {
        story: ANNOUNCED,
        value: VALUE,
        arguments: &["purge", "--value", "--apply", "-m", "a password in a log"],
        input: VALUE,
        checks: &[
            ("git for-each-ref refs/agentic/announce | wc -l | tr -d ' '", "1"),
            (
                "git log --first-parent --format=%s --all --glob=refs/agentic/announce | grep -c '^agentic announcement'",
                "1",
            ),
            ("agentic verify >/dev/null && echo believed", "believed"),
            ("agentic push >/dev/null && echo pushed", "pushed"),
        ],
    };
    walk.walk_moved();
}
