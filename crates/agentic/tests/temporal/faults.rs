//! What is killed, and what is stopped.

use crate::stage::Stage;

#[test]
fn a_worker_and_the_server_may_die_while_a_run_is_held() {
    let mut stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    stage.kill_worker();
    stage.server.kill();
    stage.server.start().expect("its data are there");
    stage.work();
    stage.ends("agentic decide k --choice accept --as user:alice", 0);
    assert_eq!(stage.ends("agentic flow result k --sibyl-addr $S", 0), "A\n");
    stage.ends("agentic session verify run-k", 0);
}

#[test]
fn a_run_is_stopped_while_it_is_held() {
    let stage = Stage::new();
    stage.ends("agentic flow run asking.as --sibyl-addr $S --run-id k", 4);
    let stopped = stage.json("agentic flow cancel k --sibyl-addr $S -m 'not now' --json");
    assert_eq!(stopped["state"], "cancelled");
    stage.ends("agentic flow cancel k --sibyl-addr $S", 8);
    assert!(stage.ends("agentic pending", 0).is_empty());
}
