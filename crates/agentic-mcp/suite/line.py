"""Lines as they are, against the server's standard streams."""

import json
import subprocess
import time

from place import BIN

CLIENT = {"name": "lines", "version": "1"}


class Lines:
    """A server, spoken to line by line."""

    def __init__(self, place, *flags, **env):
        words = [BIN, "mcp", *flags]
        self.process = subprocess.Popen(
            words,
            cwd=place.repo,
            env={**place.env, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.n = 0
        # The folder is there as long as this is.
        self.place = place

    def raw(self, data):
        """Sends a line."""
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def take(self):
        """Takes a line."""
        return json.loads(self.process.stdout.readline())

    def send(self, method, params=None, **meta):
        """Sends a request, and takes what answers it."""
        self.n += 1
        message = {"jsonrpc": "2.0", "id": self.n, "method": method, "params": params or {}}
        if meta:
            message["params"] = {**message["params"], "_meta": meta}
        self.raw(json.dumps(message))
        while True:
            answer = self.take()
            if answer.get("id") == self.n and "method" not in answer:
                return answer

    def begin(self, revision="2025-11-25", **capabilities):
        """Begins as clients of that revision do."""
        params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": CLIENT}
        answer = self.send("initialize", params)
        self.raw(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return answer["result"]

    def call(self, tool, **arguments):
        """Calls a tool."""
        answer = self.send("tools/call", {"name": tool, "arguments": arguments})
        return answer.get("result", answer)

    def end(self):
        """Closes the stream, and tells how the process ended and after how long."""
        began = time.monotonic()
        self.process.stdin.close()
        code = self.process.wait(10)
        return code, time.monotonic() - began


def modern(capabilities=None, **more):
    """Says what requests of the newest revision say of themselves."""
    prefix = "io.modelcontextprotocol/"
    return {
        prefix + "protocolVersion": "2026-07-28",
        prefix + "clientInfo": CLIENT,
        prefix + "clientCapabilities": capabilities or {},
        **more,
    }
