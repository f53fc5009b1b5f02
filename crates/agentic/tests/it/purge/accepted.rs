//! What was accepted of a peer: its record begins anew at whichever step the purge is killed.

use super::VALUE;
use super::walk::PurgeWalk;

/// A space that follows another one, whose agent has announced what is to go.
const FOLLOWING: &str = r#"
[ -e ../hub.git ] || git init -q --bare ../hub.git
[ -e ../peer ] || { git init -q ../peer && git -C ../peer commit -q --allow-empty -m "Begin there"; }
for at in . ../peer; do
  git -C $at remote add origin ../hub.git
  git -C $at config remote.origin.agentic signed
done
for who in ada bob; do ssh-keygen -q -t ed25519 -N '' -f $HOME/$who; done
cd ../peer
agentic peer init --name Bob --key $HOME/bob --json >$HOME/told
for agent in alice carol; do agentic spawn $agent -m "Work of $agent"; done
echo "log in with VALUE, then go" | agentic trace add --agent alice --kind log -
agentic commit --agent alice --allow-empty -m "Did" --trace
agentic push
told() { sed -nE 's/.*"'$1'":"([a-z0-9]+)".*/\1/p' $HOME/told; }
cd "$OLDPWD"
agentic peer init --name Ada --key $HOME/ada --project $(told project)
agentic peer add bob $(told peer)
agentic fetch
"#;

#[test]
fn a_record_of_what_was_accepted_begins_anew_at_whichever_step_the_purge_is_killed() {
    let walk = PurgeWalk {
        story: FOLLOWING,
        value: VALUE,
        arguments: &["purge", "--value", "--apply", "-m", "a password in a log"],
        input: VALUE,
        checks: &[
            ("git for-each-ref refs/agentic/accepted refs/remotes/bob | wc -l | tr -d ' '", "0"),
            ("git fsck 2>&1 | grep missing | wc -l | tr -d ' '", "0"),
            ("agentic fetch 2>/dev/null | grep -c 'cuts its chain'", "1"),
        ],
    };
    walk.walk_moved();
}
