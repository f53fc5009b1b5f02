#!/usr/bin/env python3
"""Claude Code in its mode for programs, as far as the deferred round needs it."""

import json
import os
import subprocess
import sys

ID = "0b6f3c1e-5d1a-4a57-9e44-000000000001"
CALL = {"id": "toolu_01", "name": "Bash", "input": {"command": "terraform apply -auto-approve"}}
FOLDER = os.path.join(os.environ["HOME"], ".claude", "projects", "p")
TRANSCRIPT = os.path.join(FOLDER, f"{ID}.jsonl")


def hook(name, event, **more):
    """Asks a hook as the settings have it; tells how it ended and what it said."""
    mode = sys.argv[sys.argv.index("--permission-mode") + 1]
    payload = {"session_id": ID, "cwd": os.getcwd(), "transcript_path": TRANSCRIPT,
               "hook_event_name": event, "permission_mode": mode, **more}
    environment = dict(os.environ)
    kill, at = environment.pop("KILL_HOOK", None), environment.pop("KILL_AT", None)
    if kill == name:
        environment["AGENTIC_CRASH_AT"] = at
    line = "agentic hook claude --gate || exit 2" if name == "gate" else "agentic hook claude"
    line = f"{line.split(' || ')[0]}; code=$?; [ $code -lt 128 ] || echo killed >&2; " + (
        "[ $code -eq 0 ] || exit 2" if name == "gate" else "exit 0")
    done = subprocess.run(["sh", "-c", line], input=json.dumps(payload), env=environment, text=True,
                          capture_output=True, check=False)
    if "killed" in done.stderr:
        print("a hook was killed", file=sys.stderr)
    return done.returncode, done.stdout


def say(number, sort, content):
    """Writes a line of the transcript, once."""
    uuid = f"00000000-0000-4000-8000-{number:012}"
    os.makedirs(FOLDER, exist_ok=True)
    with open(TRANSCRIPT, "a+", encoding="utf-8") as file:
        file.seek(0)
        if uuid in file.read():
            return
        line = {"type": sort, "uuid": uuid, "parentUuid": None, "sessionId": ID, "cwd": os.getcwd(),
                "timestamp": "2026-11-20T10:00:00.000Z",
                "message": {"role": sort, "content": content}}
        file.write(json.dumps(line) + "\n")


def end(**said):
    hook("Stop", "Stop")
    print(json.dumps({"session_id": ID, **said}))
    sys.exit(0)


def main():
    is_resumed = "--resume" in sys.argv
    hook("SessionStart", "SessionStart", source="resume" if is_resumed else "startup")
    if is_resumed and os.path.exists("ran"):
        end(stop_reason="end_turn")
    say(1, "user", "Deploy")
    say(2, "assistant", [{"type": "tool_use", **CALL}])
    call = {"tool_name": CALL["name"], "tool_input": CALL["input"], "tool_use_id": CALL["id"]}
    hook("PreToolUse", "PreToolUse", **call)
    code, answer = hook("gate", "PreToolUse", **call)
    said = json.loads(answer)["hookSpecificOutput"] if code == 0 and answer else {}
    decision = said.get("permissionDecision", "allow" if code == 0 else "deny")
    if decision == "defer":
        print(json.dumps({"session_id": ID, "stop_reason": "tool_deferred", "deferred_tool_use": CALL}))
        return
    if decision != "allow":
        end(stop_reason="end_turn", denied=said.get("permissionDecisionReason", "blocked"))
    for name in ("ran", "applied"):
        with open(name, "a", encoding="utf-8") as file:
            file.write("applied\n")
    hook("PostToolUse", "PostToolUse", **call, tool_response={"stdout": "Apply complete!"})
    say(3, "user", [{"type": "tool_result", "tool_use_id": CALL["id"], "content": "Apply complete!"}])
    end(stop_reason="end_turn")


main()
