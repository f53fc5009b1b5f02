"""Gemini CLI, in its mode for programs (`-p`)."""

import json

from stage import PROGRAMS, Stage


def steps(shop):
    run = lambda line: {"tool": "run_shell_command", "input": {"command": line}}
    write = {"file_path": str(shop / "made.txt"), "content": "hello\n"}
    deploy = run("sh deploy.sh")
    return [{"tool": "write_file", "input": write}, deploy, "I wait.", deploy, "Done."]


def main():
    stage = Stage("gemini", steps)
    folder = stage.home / ".gemini"
    folder.mkdir()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False}}
    (folder / "settings.json").write_text(json.dumps(settings, indent=2))
    stage.wire()
    environment = {
        "GOOGLE_GEMINI_BASE_URL": stage.model.address,
        "GEMINI_API_KEY": "fake",
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    program = str(PROGRAMS / "gemini")
    print("#", stage.run(program, "--version", env=environment).strip())
    session = "3f2a91c0-0000-4000-8000-0000000000aa"
    run = [program, "--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-flash", "-o", "json"]
    stage.run(*run, "--session-id", session, "-p", "Make it", env=environment)
    agent = "gemini-" + session[:8]
    stage.check_first(agent)
    stage.run(*run, "--resume", "latest", "-p", "Go on", env=environment)
    stage.check_second(agent)
    stage.close()


main()
