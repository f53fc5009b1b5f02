"""A repository of somebody with an agent, and a server that stands there."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback

BIN = os.environ["AGENTIC_BIN"]


class Place:
    """A repository in a temporary folder."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="mcp-")
        self.path = self.folder.name
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": self.path,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for words in (
            ["init", "-q", "repo"],
            ["-C", "repo", "config", "user.name", "Ada"],
            ["-C", "repo", "config", "user.email", "ada@example.com"],
            ["-C", "repo", "commit", "-q", "--allow-empty", "-m", "Begin"],
        ):
            subprocess.run(["git", *words], cwd=self.path, env=self.env, check=True)
        self.repo = os.path.join(self.path, "repo")
        self.run("spawn", "alice", "-m", "Do the work of alice")

    def run(self, *words, codes=(0,)):
        """Runs the command and returns what it answers."""
        done = subprocess.run(
            [BIN, "--json", *words], cwd=self.repo, env=self.env, capture_output=True, text=True
        )
        if done.returncode not in codes:
            raise AssertionError(f"{words}: {done.returncode} {done.stderr}")
        return json.loads(done.stdout) if done.stdout.strip() else None

    def command(self, *words):
        """Runs the command and returns what it prints."""
        done = subprocess.run(
            [BIN, *words], cwd=self.repo, env=self.env, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode} {done.stderr}")
        return done.stdout.strip()

    @contextlib.contextmanager
    def served(self):
        """Serves the repository meanwhile; gives the address for programs."""
        server = subprocess.Popen([BIN, "serve", "--mcp"], cwd=self.repo, env=self.env)
        try:
            until = time.monotonic() + 30
            while time.monotonic() < until:
                try:
                    status = json.loads(self.command("serve", "status", "--json"))
                    break
                except AssertionError:
                    time.sleep(0.05)
            port = status["url"].rsplit(":", 1)[1]
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.terminate()
            server.wait()

    def token(self, *flags):
        """Makes a token."""
        return self.command("serve", "token", "suite", *flags)

    def head(self, agent="alice"):
        """Returns where an agent's branch is."""
        words = ["git", "rev-parse", f"refs/heads/agents/{agent}"]
        return subprocess.check_output(words, cwd=self.repo, env=self.env, text=True).strip()


CASES = []


def case(test):
    """Adds a case; its name says what holds."""
    CASES.append(test)
    return test


def run_cases(run=lambda test: test()):
    """Runs all cases and says how each ended."""
    failed = 0
    for test in CASES:
        name = test.__name__.replace("_", " ")
        try:
            run(test)
            print(f"ok {name}", flush=True)
        except BaseException as error:  # noqa: BLE001 a case may fail in any way
            failed += 1
            print(f"FAILED {name}: {error!r}", flush=True)
            traceback.print_exc(limit=-3, file=sys.stdout)
    sys.exit(1 if failed else 0)
