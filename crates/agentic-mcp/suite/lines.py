"""What no client library sends."""

import json
import subprocess

from line import Lines, modern
from place import BIN, Place, case, run_cases


@case
def standard_output_carries_messages_only_and_a_closed_stream_ends_it():
    lines = Lines(Place())
    lines.begin()
    lines.send("tools/list")
    code, seconds = lines.end()
    assert (code, seconds < 1) == (0, True), (code, seconds)
    assert lines.process.stdout.read() == b""
    # One that was never spoken to ends as well.
    code, seconds = Lines(Place()).end()
    assert (code, seconds < 1) == (0, True), (code, seconds)


@case
def each_revision_is_spoken_and_an_unknown_one_gets_the_nearest():
    place = Place()
    for asked, spoken in {
        "2025-06-18": "2025-06-18",
        "2025-11-25": "2025-11-25",
        "1999-01-01": "2025-11-25",
    }.items():
        lines = Lines(place)
        assert lines.begin(asked)["protocolVersion"] == spoken
        lines.end()
    lines = Lines(place)
    found = lines.send("server/discover", **modern())["result"]["supportedVersions"]
    assert set(found) == {"2025-06-18", "2025-11-25", "2026-07-28"}, found
    meta = {**modern(), "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
    assert lines.send("tools/list", **meta)["error"]["code"] == -32022
    assert "tools" in lines.send("tools/list", **modern())["result"]
    lines.end()


@case
def what_is_no_request_is_answered_with_the_right_error():
    lines = Lines(Place())
    # Before anything was asked there is nothing to be notified of.
    lines.raw(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    lines.raw(json.dumps({"jsonrpc": "2.0", "id": 9, "result": {}}))
    lines.begin()
    for line, code in (
        ("no json", -32700),
        (b"\xff\xfe", -32700),
        ("[]", -32600),
        ('[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        ("7", -32600),
        ("{}", -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":99999999999999999999999,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (json.dumps({"jsonrpc": "2.0", "id": "x" * 100_000, "method": "ping"}), -32600),
    ):
        lines.raw(line)
        answer = lines.take()
        assert answer["error"]["code"] == code, (line[:60], answer)
    assert lines.send("no/such/method")["error"]["code"] == -32601
    assert lines.send("tools/call", {"name": 7})["error"]["code"] == -32602
    assert lines.send("tools/call", {"name": "nothing"})["error"]["code"] == -32602
    assert lines.send("tools/call", {"name": "merge"})["error"]["code"] == -32602
    for arguments in ({"agents": 1}, {"limit": 0}, {"limit": 201}, {"limit": "9"}, {"after": 1}):
        answer = lines.send("tools/call", {"name": "agents", "arguments": arguments})
        assert answer["error"]["code"] == -32602, (arguments, answer)
    assert lines.send("tools/call", {"name": "agents", "arguments": 1})["error"]["code"] == -32602
    assert lines.send("resources/read", {"uri": "agent://nobody"})["error"]["code"] == -32002
    assert lines.send("resources/read", {"uri": "file:///etc/passwd"})["error"]["code"] == -32002
    assert lines.send("ping")["result"] == {}
    lines.end()


@case
def a_message_of_four_mebibytes_is_read_and_one_more_byte_is_refused():
    lines = Lines(Place(), "--agent", "alice")
    lines.begin()
    most = 4 << 20
    head = '{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":"'
    lines.raw(head + "a" * (most - len(head) - 3) + '"}}')
    assert lines.take()["id"] == "big"
    lines.raw(head + "a" * (most - len(head) - 2) + '"}}')
    assert lines.take()["error"]["code"] == -32600
    lines.raw("y" * (20 << 20))
    assert lines.take()["error"]["code"] == -32600
    assert lines.send("ping")["result"] == {}
    files = {"a": "a" * (3 << 20)}
    refused = lines.call("commit", message="Too much", files=files)
    assert refused["isError"] and refused["structuredContent"]["error"]["code"] == 2
    lines.end()


@case
def more_than_sixteen_calls_at_once_are_told_to_wait():
    lines = Lines(Place(), "--agent", "alice")
    lines.begin()
    n = 200
    for i in range(n):
        call = {"name": "query", "arguments": {"named": "relations"}}
        lines.raw(json.dumps({"jsonrpc": "2.0", "id": 1000 + i, "method": "tools/call", "params": call}))
    answers = [lines.take() for _ in range(n)]
    busy = [answer for answer in answers if answer.get("error", {}).get("code") == -32000]
    done = [answer for answer in answers if "result" in answer]
    assert len(busy) + len(done) == n and len(done) >= 16 and busy, (len(busy), len(done))
    assert "wait" in busy[0]["error"]["data"]["hint"]
    lines.end()


@case
def an_agent_writes_as_itself_alone():
    place = Place()
    place.run("spawn", "bob", "-m", "b")
    lines = Lines(place, "--agent", "alice")
    lines.begin()
    head = place.head("bob")
    for tool, arguments in {
        "commit": {"message": "x", "files": {"a": "b"}},
        "trace_add": {"text": "x"},
        "relate": {"relation": "reviews", "target": "alice"},
        "session_start": {"flow": "1"},
        "ask_human": {"question": "?"},
    }.items():
        answer = lines.call(tool, agent="bob", **arguments)
        assert answer["isError"], (tool, answer)
        error = answer["structuredContent"]["error"]
        assert (error["code"], error["kind"]) == (9, "not-allowed"), error
    assert place.head("bob") == head
    lines.end()


@case
def a_server_that_only_reads_offers_no_other_tool():
    place = Place()
    lines = Lines(place, "--agent", "alice", "--read-only")
    lines.begin()
    tools = lines.send("tools/list")["result"]["tools"]
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
    assert lines.send("tools/call", {"name": "commit", "arguments": {"message": "x"}})["error"]
    lines.end()


@case
def a_commit_equals_that_of_the_command_byte_for_byte():
    place, twin = Place(), Place()
    now = {"AGENTIC_NOW": "2026-11-21T22:40:01Z"}
    for one in (place, twin):
        one.env.update(now)
        one.run("spawn", "carl", "-m", "c", "--empty")
    files = {"src/a.txt": "text\n", "b": {"base64": "AAEC"}}
    fields = {"severity": "high", "n": 7}
    lines = Lines(place, "--agent", "carl")
    lines.begin()
    told = lines.call("commit", message="Do it\n\nWhy.", kind="finding", files=files, fields=fields)
    lines.end()
    said = subprocess.run(
        [BIN, "--json", "commit", "--agent", "carl", "--stdin", "--kind", "finding"]
        + ["--field", 'severity="high"', "--field", "n=7", "-m", "Do it\n\nWhy."],
        cwd=twin.repo,
        env=twin.env,
        input=json.dumps(files),
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr
    assert told["structuredContent"] == json.loads(said.stdout), (told, said.stdout)


@case
def two_servers_see_what_the_other_writes():
    place = Place()
    one, two = Lines(place, "--agent", "alice"), Lines(place, "--agent", "alice")
    one.begin()
    two.begin()
    for n in range(5):
        writer, reader = (one, two) if n % 2 else (two, one)
        made = writer.call("commit", message=f"Commit {n}", files={f"f{n}": "x"})
        commit = made["structuredContent"]["commit"]
        newest = reader.call("log", limit=1)["structuredContent"]["items"][0]["commit"]
        assert newest == commit, (newest, commit)
    one.end()
    two.end()


@case
def a_call_that_is_given_up_does_no_harm():
    place = Place()
    lines = Lines(place, "--agent", "alice")
    lines.begin()
    for n in range(20):
        call = {"name": "trace_add", "arguments": {"text": f"t{n}"}}
        lines.raw(json.dumps({"jsonrpc": "2.0", "id": 500 + n, "method": "tools/call", "params": call}))
        cancel = {"requestId": 500 + n, "reason": "never mind"}
        lines.raw(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel}))
    assert lines.send("ping")["result"] == {}
    lines.end()
    place.run("doctor")


if __name__ == "__main__":
    run_cases()
