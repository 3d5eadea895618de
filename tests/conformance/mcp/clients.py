"""The Python client against the server and the gate: all modes, both transports. Prints a line for each check."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import mcp
from mcp import types
from mcp.client.stdio import StdioServerParameters
from mcp_types.methods import validate_server_result

SERVER, GATE, CLIENT, BIN = sys.argv[1:5]
RULES = """
[[rule]]
decision = "deny"
tool = "*"
reason = "secrets stay"
[[rule.when]]
argument = "path"
under = "%s/secrets"
absent = "no_match"

[[rule]]
decision = "deny"
tool = ["get-env", "delete_entities", "git_commit", "one__get-env", "one__delete_entities", "one__git_commit", "one__move_file"]
reason = "not that"

[[rule]]
decision = "ask"
tool = "ech*"
reason = "it says so"

[[rule]]
decision = "allow"
tool = "*"
"""
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'FAILED'} {what} {'' if ok else detail}")


async def yes(context, params):
    properties = getattr(params, "requested_schema", None) or {}
    return types.ElicitResult(action="accept", content={name: True for name in properties.get("properties", {})})


def text(result):
    return "".join(getattr(block, "text", "") for block in result.content)


async def server_checks(name, target, mode):
    what = f"{name} {mode}"
    # What the server asks about, and what the gate does.
    asks = ("echo", {"text": "accepted m"}) if name == "gate" else ("test_elicitation", {"message": "m"})
    async with mcp.Client(target, mode=mode, elicitation_callback=yes) as client:
        listed = await client.list_tools()
        names = [tool.name for tool in listed.tools]
        # Some of the suite's scenarios pass on servers that haven't got the tool.
        wanted = {"add", "test_simple_text", "test_error_handling", "test_tool_with_progress", "json_schema_2020_12_tool"}
        check(f"{what}: the tools are there", wanted <= set(names), names)
        version = "2025-11-25" if mode == "legacy" else "2026-07-28"
        try:
            validate_server_result("tools/list", version, json.loads(listed.model_dump_json(by_alias=True, exclude_none=True)))
            check(f"{what}: the list is one of {version}", True)
        except Exception as error:
            check(f"{what}: the list is one of {version}", False, error)
        results = await asyncio.gather(*(client.call_tool("add", {"a": n, "b": 1}) for n in range(5)))
        check(f"{what}: five calls at a time", [r.structured_content for r in results] == [{"sum": n + 1} for n in range(5)])
        wrong = await client.call_tool("add", {"a": "one"})
        check(f"{what}: wrong arguments are told", wrong.is_error and "`b`" in text(wrong), wrong)
        try:
            await client.call_tool("nothing", {})
            check(f"{what}: an unknown tool", False)
        except Exception as error:
            check(f"{what}: an unknown tool", "nothing" in str(error), error)
        seen = []

        async def progress(done, total, message):
            seen.append(done)

        await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
        check(f"{what}: progress", len(seen) == 3 and seen == sorted(seen), seen)
        asked = await client.call_tool(*asks)
        check(f"{what}: a person is asked", not asked.is_error and "accepted m" in text(asked), asked)
    async with mcp.Client(target, mode=mode) as client:
        refused = await client.call_tool(*asks)
        check(f"{what}: nobody can be asked", refused.is_error, refused)


def gate(folder, *behind, options=()):
    (folder / "rules.toml").write_text(RULES % folder)
    common = ["--policy", str(folder / "rules.toml"), *options, "--", *behind]
    subprocess.run([GATE, "--pin", "update", *common], check=True, stdout=subprocess.DEVNULL)
    return StdioServerParameters(command=GATE, args=common)


async def answers(context, params):
    return types.ElicitResult(action="decline")


def children(program):
    """The processes that run a program, of those that were started from here."""
    parents, lines = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                lines[int(entry.name)] = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                pass

    def is_ours(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    # The gate and the client have the server's command in their own.
    runs = lambda line: program in line and "mcp_gate" not in line and "mcp_client" not in line
    return [process for process, line in lines.items() if runs(line) and is_ours(process)]


class Result:
    """What a call came to, whoever made it."""

    def __init__(self, is_error, said):
        self.is_error, self.said = is_error, said

    def __repr__(self):
        return f"{'error' if self.is_error else 'ok'}: {self.said}"


class ByGate:
    """Calls of the Python client, through the gate."""

    def __init__(self, folder, command, timeout, deny):
        self.folder, self.command, self.timeout = folder, command, timeout

    async def __aenter__(self):
        servers = self.folder / "one.toml"
        command = json.dumps(self.command)
        servers.write_text(f"[server.one]\ncommand = {command}\ntimeout = {self.timeout}\n")
        (self.folder / "rules.toml").write_text(RULES % self.folder)
        common = ["--policy", str(self.folder / "rules.toml"), "--servers", str(servers)]
        subprocess.run([GATE, "--pin", "update", *common], check=True, stdout=subprocess.DEVNULL)
        self.client = mcp.Client(StdioServerParameters(command=GATE, args=common), mode="auto")
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *error):
        await self.client.__aexit__(*error)

    async def call(self, tool, arguments):
        result = await self.client.call_tool(f"one__{tool}", arguments)
        return Result(result.is_error, text(result))


class ByClient:
    """Calls of our own client."""

    def __init__(self, folder, command, timeout, deny):
        self.command = ["--timeout", str(timeout), "--deny", deny, "--", *command]

    async def __aenter__(self):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(CLIENT, *self.command, stdin=pipe, stdout=pipe, limit=1 << 24)
        return self

    async def __aexit__(self, *error):
        self.process.stdin.close()
        await asyncio.wait_for(self.process.wait(), 30)

    async def call(self, tool, arguments):
        self.process.stdin.write(f"{tool} {json.dumps(arguments)}\n".encode())
        line = json.loads(await self.process.stdout.readline())
        return Result(line["code"] != "ok", line["text"])


def signal_all(program, what):
    """To one at least."""
    found = children(program)
    for process in found:
        os.kill(process, what)
    return bool(found)


async def until_it_answers(way, call):
    """A server that was killed comes back after a while."""
    for _ in range(60):
        result = await way.call(*call)
        if not result.is_error:
            break
        await asyncio.sleep(0.25)
    return result


async def has_ended(program):
    """Whether no process of it is left, at once or after a while."""
    for _ in range(40):
        if not children(program):
            return True
        await asyncio.sleep(0.25)
    return False


async def stopped_and_killed(folder, name, program, command, call, says, deny):
    """A server that hangs in a call, and one that is killed in one: through the gate and through our client."""
    for by in (ByGate, ByClient):
        what = f"{name} {by.__name__}"
        async with by(folder, command, 2, deny[0]) as way:
            first = await way.call(*call)
            check(f"{what}: a call", not first.is_error and says in first.said, first)
            denied = await way.call(*deny)
            check(f"{what}: a denied one", denied.is_error and "not that" in denied.said, denied)
            # What is stopped neither answers nor ends.
            stopped = signal_all(program, signal.SIGSTOP)
            hangs = await asyncio.wait_for(way.call(*call), 20)
            told = "time budget" in hangs.said or "took longer" in hangs.said
            check(f"{what}: a call that takes too long ends", stopped and hangs.is_error and told, hangs)
            signal_all(program, signal.SIGCONT)
            again = await until_it_answers(way, call)
            check(f"{what}: and the server goes on", not again.is_error and says in again.said, again)
        async with by(folder, command, 60, deny[0]) as way:
            first = await way.call(*call)
            signal_all(program, signal.SIGSTOP)
            under_way = asyncio.create_task(way.call(*call))
            await asyncio.sleep(1)
            was_under_way = not under_way.done()
            killed = signal_all(program, signal.SIGKILL)
            ended = await asyncio.wait_for(under_way, 20)
            told = "may have had its effects" in ended.said
            check(f"{what}: killed in a call, which ends", was_under_way and killed and ended.is_error and told, ended)
            again = await until_it_answers(way, call)
            check(f"{what}: and comes back", not first.is_error and not again.is_error and says in again.said, again)
        check(f"{what}: nothing is left behind", await has_ended(program), children(program))


async def dies_and_hangs(folder):
    slow = {"duration": 30, "steps": 3}
    servers = folder / "servers.toml"
    servers.write_text(f'[server.all]\ncommand = ["{BIN}/mcp-server-everything", "stdio"]\ntimeout = 1\n')
    (folder / "rules.toml").write_text(RULES % folder)
    common = ["--policy", str(folder / "rules.toml"), "--servers", str(servers)]
    subprocess.run([GATE, "--pin", "update", *common], check=True, stdout=subprocess.DEVNULL)
    async with mcp.Client(StdioServerParameters(command=GATE, args=common), mode="auto") as client:
        hangs = await client.call_tool("all__trigger-long-running-operation", slow)
        check("everything: a call that takes too long ends", hangs.is_error and "time budget" in text(hangs) or "took longer" in text(hangs), hangs)
        total = await client.call_tool("all__get-sum", {"a": 1, "b": 2})
        check("everything: and the server goes on", not total.is_error and "3" in text(total), total)
    servers.write_text(f'[server.all]\ncommand = ["{BIN}/mcp-server-everything", "stdio"]\n')
    async with mcp.Client(StdioServerParameters(command=GATE, args=common), mode="auto") as client:
        call = asyncio.create_task(client.call_tool("all__trigger-long-running-operation", slow))
        await asyncio.sleep(1)
        signal_all("mcp-server-everything", signal.SIGKILL)
        killed = await asyncio.wait_for(call, 20)
        check("everything: killed in a call, which ends", killed.is_error and "may have had its effects" in text(killed), killed)
        for _ in range(40):
            total = await client.call_tool("all__get-sum", {"a": 1, "b": 2})
            if not total.is_error:
                break
            await asyncio.sleep(0.25)
        check("everything: and comes back", not total.is_error and "3" in text(total), total)
    left = children("mcp-server-everything")
    check("everything: nothing is left behind", await has_ended("mcp-server-everything"), left)


async def real_servers(folder):
    (folder / "secrets").mkdir()
    (folder / "secrets" / "k").write_text("hidden")
    (folder / "open").write_text("seen")
    (folder / "secretsX").write_text("beside")
    for mode in ["auto", "legacy"]:
        params = gate(folder, f"{BIN}/mcp-server-filesystem", str(folder))
        async with mcp.Client(params, mode=mode) as client:
            check(f"filesystem {mode}: tools", len((await client.list_tools()).tools) == 14)
            seen = await client.call_tool("read_text_file", {"path": f"{folder}/open"})
            check(f"filesystem {mode}: a file", not seen.is_error and "seen" in text(seen), seen)
            for path in ["secrets/k", "secrets/./k", "x/../secrets/k", "/secrets/k", "secrets", "secrets//k", "./secrets/k", "secrets/"]:
                result = await client.call_tool("read_text_file", {"path": f"{folder}/{path}"})
                check(f"filesystem {mode}: {path} is denied", result.is_error and "secrets stay" in text(result), result)
            beside = await client.call_tool("read_text_file", {"path": f"{folder}/secretsX"})
            check(f"filesystem {mode}: a neighbour is not", not beside.is_error and "beside" in text(beside), beside)
            # What a link leads to only the server sees: it is told in the notes on the rules, and not denied.
            moved = await client.call_tool("move_file", {"source": f"{folder}/open", "destination": f"{folder}/secretsX"})
            check(f"filesystem {mode}: the server's own error comes through", moved.is_error, moved)
    everything = gate(folder, f"{BIN}/mcp-server-everything", "stdio")
    async with mcp.Client(everything, mode="auto") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        check("everything: tools", len(names) >= 10, names)
        total = await client.call_tool("get-sum", {"a": 1, "b": 2})
        check("everything: a sum", not total.is_error and "3" in text(total), total)
        denied = await client.call_tool("get-env", {})
        check("everything: a denied tool", denied.is_error and "not that" in text(denied), denied)
    for mode in ["auto", "legacy"]:
        async with mcp.Client(everything, mode=mode, elicitation_callback=answers) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            # It offers this tool only to those who can ask, and the gate had it listed as one who can't.
            check(f"everything {mode}: nothing is there that was not pinned", "trigger-elicitation-request" not in names, names)
    await dies_and_hangs(folder)
    memory = gate(folder, f"{BIN}/mcp-server-memory")
    async with mcp.Client(memory, mode="auto") as client:
        graph = await client.call_tool("read_graph", {})
        check("memory: structured output is checked and passed on", not graph.is_error and "entities" in (graph.structured_content or {}), graph)
        denied = await client.call_tool("delete_entities", {"entityNames": ["a"]})
        check("memory: a denied tool", denied.is_error and "not that" in text(denied), denied)
    subprocess.run(["git", "init", "-q", str(folder / "repo")], check=True)
    git = gate(folder, sys.executable, "-m", "mcp_server_git")
    async with mcp.Client(git, mode="auto") as client:
        status = await client.call_tool("git_status", {"repo_path": str(folder / "repo")})
        check("git: a call", not status.is_error, status)
        denied = await client.call_tool("git_commit", {"repo_path": str(folder / "repo"), "message": "m"})
        check("git: a denied tool", denied.is_error and "not that" in text(denied), denied)
    await stopped_and_killed(
        folder, "filesystem", "mcp-server-filesystem", [f"{BIN}/mcp-server-filesystem", str(folder)],
        ("read_text_file", {"path": f"{folder}/open"}), "seen", ("move_file", {"source": "a", "destination": "b"}),
    )
    await stopped_and_killed(
        folder, "memory", "mcp-server-memory", [f"{BIN}/mcp-server-memory"],
        ("read_graph", {}), "entities", ("delete_entities", {"entityNames": ["a"]}),
    )
    await stopped_and_killed(
        folder, "git", "mcp_server_git", [sys.executable, "-m", "mcp_server_git"],
        ("git_status", {"repo_path": str(folder / "repo")}), "branch",
        ("git_commit", {"repo_path": str(folder / "repo"), "message": "m"}),
    )
    await stopped_and_killed(
        folder, "everything", "mcp-server-everything", [f"{BIN}/mcp-server-everything", "stdio"],
        ("get-sum", {"a": 1, "b": 2}), "3", ("get-env", {}),
    )


def listening(port):
    """Waits until somebody listens, for ten seconds at most."""
    for _ in range(100):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise TimeoutError(f"nobody listens at port {port}")


async def main():
    http = subprocess.Popen([SERVER, "--http", "127.0.0.1:3903"])
    try:
        listening(3903)
        for mode in ["auto", "legacy", "2026-07-28"]:
            await server_checks("stdio", StdioServerParameters(command=SERVER), mode)
            await server_checks("http", "http://127.0.0.1:3903/mcp", mode)
            with tempfile.TemporaryDirectory() as folder:
                await server_checks("gate", gate(Path(folder), SERVER), mode)
        with tempfile.TemporaryDirectory() as folder:
            await real_servers(Path(folder).resolve())
    finally:
        http.terminate()
        http.wait()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


asyncio.run(main())
