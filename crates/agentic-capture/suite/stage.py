"""A repository and a home, in which one coding agent has a conversation with a model of ours."""

import json
import os
import pathlib
import subprocess
import tempfile

from model import Model

AGENTIC = os.environ["AGENTIC_BIN"]
NODE = pathlib.Path(os.environ["AGENTIC_NODE"]).parent
PROGRAMS = pathlib.Path(__file__).resolve().parent / "node_modules" / ".bin"
# A call that a rule holds, and one that none does.
RULES = """[[hold]]
tool = "Bash"
match = 'deploy'
"""


def looked(what, truth, why=""):
    """Prints what was looked at, and whether it is so."""
    print(f"ok {what}" if truth else f"FAILED {what}: {why}", flush=True)
    return truth


class Stage:
    def __init__(self, source, steps):
        self.source = source
        self.root = tempfile.TemporaryDirectory(prefix="agentic-")
        root = pathlib.Path(self.root.name).resolve()
        self.home, self.shop = root / "home", root / "shop"
        self.home.mkdir()
        self.shop.mkdir()
        tools = root / "bin"
        tools.mkdir()
        (tools / "agentic").symlink_to(AGENTIC)
        self.environment = {
            "HOME": str(self.home),
            "PATH": f"{tools}:{NODE}:{os.environ['PATH']}",
            "TERM": "dumb",
        }
        for who in ("AUTHOR", "COMMITTER"):
            self.environment[f"GIT_{who}_NAME"] = "Ada"
            self.environment[f"GIT_{who}_EMAIL"] = "ada@example.com"
        (self.shop / "agentic.toml").write_text(RULES)
        (self.shop / "deploy.sh").write_text("echo deployed >> deployed.txt\n")
        self.run("git", "init", "-q", "-b", "main")
        self.run("git", "add", ".")
        self.run("git", "commit", "-q", "-m", "Begin")
        self.model = Model(steps(self.shop))

    def run(self, *words, env=None, fails=False):
        """Runs a program in the repository; its output must be text."""
        done = subprocess.run(
            words,
            cwd=self.shop,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
        if done.returncode != 0 and not fails:
            raise SystemExit(f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def agentic(self, *words):
        return json.loads(self.run(AGENTIC, *words, "--json"))

    def entries(self, agent):
        """All entries of an agent: bound ones, then pending ones."""
        entries = []
        for words in (["trace", "show", agent], ["trace", "pending", "--agent", agent]):
            said = self.run(AGENTIC, *words, "--json", fails=True)
            try:
                said = json.loads(said)
            except ValueError:
                continue
            entries += said.get("entries", []) if isinstance(said, dict) else said
        return entries

    def take_in(self):
        """What a hook had no time for is taken in by an import."""
        self.run(AGENTIC, "import", self.source, fails=True)

    def holds(self):
        return self.agentic("pending")

    def deployed(self):
        file = self.shop / "deployed.txt"
        return file.read_text().count("deployed") if file.exists() else 0

    def errors(self):
        """What went wrong. An event that was put off while others had the lock did not: the next one
        takes in what it knew."""
        log = self.shop / ".git/agentic/capture/errors.log"
        lines = log.read_text().splitlines() if log.exists() else []
        return "\n".join(line for line in lines if not line.endswith(" busy"))

    def put_off(self):
        """Where something waits that an event has put off."""
        spool = self.shop / ".git/agentic/capture/spool"
        return [str(path) for path in spool.rglob("*") if path.is_file()]

    def wire(self, *more):
        self.run(AGENTIC, "init", "--agents", self.source, "--holds", *more)

    def check_first(self, agent, lacks=()):
        """After the first run: the conversation is kept, and its held call waits."""
        self.take_in()
        entries = self.entries(agent)
        kinds = {entry["kind"] for entry in entries}
        wanted = {"prompt", "tool-call", "tool-result", "reply", "usage"} - set(lacks)
        looked(f"{self.source}: entries of each kind", wanted <= kinds, f"{sorted(kinds)}")
        prompts = [entry["text"] for entry in entries if entry["kind"] == "prompt"]
        looked(f"{self.source}: the prompt", any("Make it" in it for it in prompts), f"{prompts}")
        looked(f"{self.source}: the call that nobody holds ran", (self.shop / "made.txt").exists())
        looked(f"{self.source}: the held call did not run", self.deployed() == 0)
        holds = self.holds()
        looked(f"{self.source}: it waits for a person", len(holds) == 1, f"{holds}")
        self.run(AGENTIC, "decide", agent, "approve", "-m", "go")

    def check_second(self, agent):
        """After the second run: the decision was used once, and all of it is kept once."""
        looked(f"{self.source}: the call ran once it was decided", self.deployed() == 1, f"{self.deployed()}")
        entries = self.entries(agent)
        used = [entry for entry in entries if entry["text"].startswith("hold used ")]
        looked(f"{self.source}: the use of the decision is kept", len(used) == 1, f"{len(used)}")
        ids = [entry["meta"]["id"] for entry in entries if "id" in entry.get("meta", {})]
        looked(f"{self.source}: no entry is kept twice", len(ids) == len(set(ids)), f"{len(ids)}")
        looked(f"{self.source}: nothing is wrong", self.errors() == "", self.errors())
        looked(f"{self.source}: what was put off came in", not self.put_off(), f"{self.put_off()}")
        self.run("git", "fsck", "--strict", "--no-dangling")
        passed = self.agentic("doctor").get("passed", [])
        looked(f"{self.source}: no hold was passed by", passed == [], f"{passed}")

    def close(self):
        self.model.close()
        self.root.cleanup()
