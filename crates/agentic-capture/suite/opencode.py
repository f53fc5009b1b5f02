"""opencode, in its mode for programs (`run`)."""

import json

from stage import PROGRAMS, Stage


def steps(shop):
    run = lambda line: {"tool": "bash", "input": {"command": line, "description": "Run it"}}
    deploy = run("sh deploy.sh")
    return [run("echo hello > made.txt"), deploy, "I wait.", deploy, "Done."]


def main():
    stage = Stage("opencode", steps)
    folder = stage.home / ".config" / "opencode"
    folder.mkdir(parents=True)
    ours = {
        "model": "anthropic/claude-sonnet-4-5",
        "small_model": "anthropic/claude-sonnet-4-5",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"anthropic": {"options": {"baseURL": f"{stage.model.address}/v1", "apiKey": "sk-fake"}}},
    }
    (folder / "opencode.json").write_text(json.dumps(ours))
    stage.wire()
    environment = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    program = str(PROGRAMS.parent / "opencode-linux-x64" / "bin" / "opencode")
    print("#", stage.run(program, "--version", env=environment).strip())
    said = stage.run(program, "run", "--format", "json", "--auto", "Make it", env=environment)
    begun = json.loads(said.splitlines()[0])
    session = begun["sessionID"]
    agents = stage.agentic("agents")
    agent = next(it["agent"] for it in agents if it["agent"].startswith("opencode-"))
    # Its calls, replies and counts stand in its database alone.
    stage.check_first(agent, lacks=("tool-call", "reply", "usage"))
    stage.run(program, "run", "--format", "json", "--auto", "-s", session, "Go on", env=environment)
    stage.check_second(agent)
    stage.close()


main()
