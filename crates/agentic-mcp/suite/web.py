"""The official Python client over HTTP: what holds over lines holds there too."""

import asyncio
import contextlib
import urllib.error
import urllib.request

import client as lines
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from place import Place, case, run_cases


@contextlib.asynccontextmanager
async def over_http(place, *flags):
    """Connects to a process that serves that place."""
    with place.served() as url:
        token = place.token(*flags)
        headers = {"Authorization": f"Bearer {token}"}
        async with create_mcp_http_client(headers=headers) as http:
            async with streamable_http_client(url, http_client=http) as streams:
                async with ClientSession(streams[0], streams[1]) as session:
                    await session.initialize()
                    yield session


lines.client = over_http


@case
async def nobody_is_heard_without_a_token():
    place = Place()
    with place.served() as url:
        token = place.token("--read-only")
        body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

        def status(**more):
            headers = {**kinds, **{name.replace("_", "-"): value for name, value in more.items()}}
            request = urllib.request.Request(url, data=body, headers=headers)
            try:
                return urllib.request.urlopen(request).status
            except urllib.error.HTTPError as error:
                return error.code

        good = f"Bearer {token}"
        assert status(Authorization=good) == 200, status(Authorization=good)
        assert status() == 401
        assert status(Authorization="Bearer nothing") == 401
        assert status(Cookie=f"agentic={token}") == 401
        assert status(Authorization=good, Host="evil.example") == 421
        assert status(Authorization=good, Origin="http://evil.example") == 403
        assert status(Authorization=good, Origin="null") == 403
        own = "http://" + url.split("/")[2]
        assert status(Authorization=good, Origin=own) == 200
        place.command("serve", "token", "suite", "--revoke")
        assert status(Authorization=good) == 401


@case
async def a_token_that_reads_writes_nothing():
    place = Place()
    async with over_http(place, "--agent", "alice", "--read-only") as session:
        names = [tool.name for tool in (await session.list_tools()).tools]
        assert "agents" in names and "commit" not in names and "decide" not in names, names


if __name__ == "__main__":
    run_cases(lambda test: asyncio.run(test()))
