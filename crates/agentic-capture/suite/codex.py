"""Codex, in its mode for programs (`exec`), with its flag for hooks that nobody has looked at."""

import json

from stage import PROGRAMS, Stage

CONFIGURATION = """model = "gpt-5.5"
model_provider = "ours"
[model_providers.ours]
name = "ours"
base_url = "{address}/v1"
env_key = "OUR_KEY"
wire_api = "responses"
[projects."{shop}"]
trust_level = "trusted"
"""


def steps(_shop):
    run = lambda line: {"tool": "exec_command", "input": {"cmd": line}}
    deploy = run("sh deploy.sh")
    return [run("echo hello > made.txt"), deploy, "I wait.", deploy, "Done."]


def main():
    stage = Stage("codex", steps)
    folder = stage.home / ".codex"
    folder.mkdir()
    configuration = CONFIGURATION.format(address=stage.model.address, shop=stage.shop)
    (folder / "config.toml").write_text(configuration)
    stage.wire()
    program = str(PROGRAMS / "codex")
    print("#", stage.run(program, "--version").strip())
    trusted = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]
    run = [program, "exec", "--json", *trusted]
    said = stage.run(*run, "Make it", env={"OUR_KEY": "sk-fake"})
    begun = next(json.loads(line) for line in said.splitlines() if "thread.started" in line)
    agent = "codex-" + begun["thread_id"][-8:]
    stage.check_first(agent)
    stage.run(*run, "resume", begun["thread_id"], "Go on", env={"OUR_KEY": "sk-fake"})
    stage.check_second(agent)
    stage.close()


main()
