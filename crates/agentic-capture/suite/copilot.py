"""Copilot CLI, in its mode for programs (`-p`), with a provider of models of its own."""

from stage import PROGRAMS, Stage


def steps(shop):
    run = lambda line: {"tool": "bash", "input": {"command": line, "description": "Run it"}}
    deploy = run("sh deploy.sh")
    return [run("echo hello > made.txt"), deploy, "I wait.", deploy, "Done."]


def main():
    stage = Stage("copilot", steps)
    (stage.home / ".copilot").mkdir()
    stage.wire()
    environment = {
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_BASE_URL": stage.model.address,
        "COPILOT_PROVIDER_API_KEY": "sk-fake",
        "COPILOT_MODEL": "claude-sonnet-4",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_OFFLINE": "true",
        # It trusts the folder, whose hooks would be left out otherwise.
        "COPILOT_ALLOW_ALL": "true",
    }
    program = str(PROGRAMS / "copilot")
    print("#", stage.run(program, "--version", env=environment).splitlines()[0])
    run = [program, "--allow-all-tools", "--allow-all-paths", "--no-color", "-p"]
    stage.run(*run, "Make it", env=environment)
    state = stage.home / ".copilot" / "session-state"
    session = next(it.name for it in state.iterdir() if (it / "events.jsonl").exists())
    agent = "copilot-" + session[:8]
    stage.check_first(agent)
    stage.run(*run, "Go on", "--resume", session, env=environment)
    stage.check_second(agent)
    stage.close()


main()
