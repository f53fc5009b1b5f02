"""Claude Code, in its mode for programs (`-p`)."""

import json

from stage import PROGRAMS, Stage

DEPLOY = {"tool": "Bash", "input": {"command": "sh deploy.sh", "description": "Deploy"}}


def steps(shop):
    write = {"file_path": str(shop / "made.txt"), "content": "hello\n"}
    again = {"tool": "Bash", "input": dict(DEPLOY["input"], description="Deploy now")}
    return [{"tool": "Write", "input": write}, DEPLOY, "I wait.", again, "Done."]


def main():
    stage = Stage("claude", steps)
    (stage.home / ".claude").mkdir()
    stage.wire()
    environment = {
        "ANTHROPIC_BASE_URL": stage.model.address,
        "ANTHROPIC_API_KEY": "sk-fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    # What its own installation would put in the place of a link.
    program = str(PROGRAMS.parent / "@anthropic-ai" / "claude-code-linux-x64" / "claude")
    print("#", stage.run(program, "--version", env=environment).strip())
    run = [program, "--output-format", "json", "--allowedTools", "Write,Bash", "-p"]
    first = json.loads(stage.run(*run, "Make it", env=environment))
    agent = "claude-" + first["session_id"][:8]
    stage.check_first(agent)
    stage.run(*run, "Go on", "--resume", first["session_id"], env=environment)
    stage.check_second(agent)
    stage.close()


main()
