"""Conversations of the official SDKs with the examples `replay` and `agent`, through a mock of a model's server.

    python conversation.py NODE AIMOCK REPLAY AGENT

The mock serves the turns of `fixtures.json`; what it can't serve is in `recorded.json`. An SDK sends the request and
reads the response; `replay` is given the response and answers its calls; the SDK takes the answers back. The mock takes
anything, so what it was sent is judged here: every call answered once, directly behind it, in order.

Prints a line of JSON for each check: {"check", "of", "problem"}; the problem is null if it passed.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

import anthropic
import ollama
import openai
from google import genai
from google.genai import types as genai_types
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

HERE = pathlib.Path(__file__).parent
PROMPT = "plan"
# The mock can answer a conversation with no more turns than this.
TURNS = 4


def report(check, of, problem):
    print(json.dumps({"check": check, "of": of, "problem": problem}, ensure_ascii=False), flush=True)


def replay(provider, body, stream=False):
    """What `replay` says to a response: an array of messages, or an object if the response came in pieces."""
    command = [REPLAY, "--provider", provider, *(["--stream"] if stream else [])]
    ran = subprocess.run(command, input=body.encode(), capture_output=True, timeout=60)
    if ran.returncode != 0:
        raise RuntimeError(f"replay ended with {ran.returncode}: {ran.stderr.decode()}")
    return json.loads(ran.stdout)


def tools(provider):
    said = subprocess.run([REPLAY, "--provider", provider, "--tools"], capture_output=True, check=True, timeout=60)
    return json.loads(said.stdout)


# ---- one class a provider: how its SDK is called, and what a right conversation looks like


class Chat:
    """Chat Completions."""

    name, key = "openai", "messages"

    def __init__(self, url):
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        self.tools = tools(self.name)
        self.said = [{"role": "user", "content": PROMPT}]

    def ask(self, stream):
        request = dict(model="gpt-5", messages=self.said, tools=self.tools)
        if stream:
            with self.client.chat.completions.with_streaming_response.create(stream=True, **request) as response:
                return "\n".join(response.iter_lines())
        return self.client.chat.completions.with_raw_response.create(**request).text

    def history(self, body):
        message = openai.types.chat.ChatCompletion.model_validate_json(body).choices[0].message
        return [message.model_dump(exclude_none=True)]

    def results(self, answers):
        return answers

    def validate(self, messages):
        TypeAdapter(list[ChatCompletionMessageParam]).validate_python(messages)

    def asked(self, call):
        """What a call is answered by."""
        return call["id"]

    def answered(self, message):
        """What an answer answers."""
        return message["tool_call_id"]

    def pairing(self, messages):
        """Yields (calls, answers) of each turn: what was asked, and what stands directly behind it."""
        for index, message in enumerate(messages):
            if message.get("tool_calls"):
                behind = []
                for answer in messages[index + 1:]:
                    if answer["role"] != "tool":
                        break
                    behind.append(self.answered(answer))
                yield [self.asked(call) for call in message["tool_calls"]], behind

    def texts(self, messages):
        return [message["content"] for message in messages if message["role"] == "tool"]


class Responses(Chat):
    """Responses."""

    name, key = "openai-responses", "input"

    def ask(self, stream):
        # The mock counts each item as a turn, so it has fixtures of their own for this model.
        request = dict(model="items", input=self.said, tools=self.tools)
        if stream:
            with self.client.responses.with_streaming_response.create(stream=True, **request) as response:
                return "\n".join(response.iter_lines())
        return self.client.responses.with_raw_response.create(**request).text

    def history(self, body):
        # As the SDK reads it, which asks for no member: the mock leaves some out.
        output = openai.types.responses.Response.construct(**json.loads(body)).output
        return [item.model_dump(exclude_none=True) for item in output]

    def validate(self, messages):
        TypeAdapter(list[ResponseInputItemParam]).validate_python(messages)

    def pairing(self, messages):
        calls, answers = [], []
        for item in [*messages, {"type": "message"}]:
            if item.get("type") == "function_call":
                if answers:
                    yield calls, answers
                    calls, answers = [], []
                calls.append(item["call_id"])
            elif item.get("type") == "function_call_output":
                answers.append(item["call_id"])
            elif calls:
                yield calls, answers
                calls, answers = [], []

    def texts(self, messages):
        return [item["output"] for item in messages if item.get("type") == "function_call_output"]


class Messages(Chat):
    """Anthropic's Messages."""

    name, key = "anthropic", "messages"

    def __init__(self, url):
        self.client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        self.tools = tools(self.name)
        self.said = [{"role": "user", "content": PROMPT}]

    def ask(self, stream):
        request = dict(model="claude-sonnet-5", max_tokens=1000, messages=self.said, tools=self.tools)
        if stream:
            with self.client.messages.with_streaming_response.create(stream=True, **request) as response:
                return "\n".join(response.iter_lines())
        return self.client.messages.with_raw_response.create(**request).text()

    def history(self, body):
        content = anthropic.types.Message.model_validate_json(body).content
        return [{"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in content]}]

    def validate(self, messages):
        TypeAdapter(list[anthropic.types.MessageParam]).validate_python(messages)

    def pairing(self, messages):
        for index, message in enumerate(messages):
            if message["role"] == "assistant" and isinstance(message["content"], list):
                calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
                if calls:
                    behind = messages[index + 1] if index + 1 < len(messages) else {"role": "nobody", "content": []}
                    answers = []
                    # The results are the beginning of the one message behind it.
                    for block in behind["content"]:
                        if block["type"] != "tool_result":
                            break
                        answers.append(block["tool_use_id"])
                    yield calls, answers if behind["role"] == "user" else []

    def texts(self, messages):
        blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
        return [json.dumps(block["content"]) for block in blocks if block["type"] == "tool_result"]


class Gemini(Chat):
    """Gemini."""

    name, key = "gemini", "contents"

    def __init__(self, url):
        options = genai_types.HttpOptions(base_url=url, api_version="v1beta")
        self.client = genai.Client(api_key="none", http_options=options)
        self.tools = tools(self.name)
        self.said = [{"role": "user", "parts": [{"text": PROMPT}]}]

    def ask(self, stream):
        quiet = genai_types.AutomaticFunctionCallingConfig(disable=True)
        config = genai_types.GenerateContentConfig(
            tools=[genai_types.Tool.model_validate(tool) for tool in self.tools], automatic_function_calling=quiet
        )
        request = dict(model="gemini-3-pro", contents=self.contents(), config=config)
        dumped = lambda part: part.model_dump_json(by_alias=True, exclude_none=True, exclude={"sdk_http_response"})
        if stream:
            return "\n".join(f"data: {dumped(piece)}\n" for piece in self.client.models.generate_content_stream(**request))
        return dumped(self.client.models.generate_content(**request))

    def contents(self):
        return [genai_types.Content.model_validate(content) for content in self.said]

    def history(self, body):
        content = genai_types.GenerateContentResponse.model_validate_json(body).candidates[0].content
        return [json.loads(content.model_dump_json(by_alias=True, exclude_none=True))]

    def validate(self, messages):
        TypeAdapter(list[genai_types.Content]).validate_python(messages)

    def pairing(self, messages):
        for index, content in enumerate(messages):
            calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
            if calls:
                behind = messages[index + 1]["parts"] if index + 1 < len(messages) else []
                answers = [part["functionResponse"] for part in behind if "functionResponse" in part]
                named = lambda parts: [(part.get("id"), part["name"]) for part in parts]
                yield named(calls), named(answers)

    def texts(self, messages):
        parts = [part for content in messages for part in content["parts"]]
        return [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


class Ollama(Chat):
    """Ollama's own chat."""

    name, key = "ollama", "messages"

    def __init__(self, url):
        self.client = ollama.Client(host=url)
        self.tools = tools(self.name)
        self.said = [{"role": "user", "content": PROMPT}]

    def ask(self, stream):
        answer = self.client.chat(model="llama3", messages=self.said, tools=self.tools, stream=stream)
        if stream:
            return "\n".join(piece.model_dump_json(exclude_none=True) for piece in answer)
        return answer.model_dump_json(exclude_none=True)

    def history(self, body):
        return [ollama.ChatResponse.model_validate_json(body).message.model_dump(exclude_none=True)]

    def validate(self, messages):
        TypeAdapter(list[ollama.Message]).validate_python(messages)

    def asked(self, call):
        # It matches by order and name.
        return call["function"]["name"]

    def answered(self, message):
        return message["tool_name"]


PROVIDERS = [Chat, Responses, Messages, Gemini, Ollama]


def converse(provider, url, stream):
    """All turns of one conversation. The last has nothing to call."""
    speaker = provider(url)
    turns = 0
    while turns < TURNS:
        turns += 1
        body = speaker.ask(stream)
        if stream:
            said = replay(speaker.name, body, stream=True)
            history = said["history"]
            speaker.said += history if isinstance(history, list) else [history]
            answers = said["results"]
        else:
            answers = replay(speaker.name, body)
            speaker.said += speaker.history(body)
        if not answers:
            break
        speaker.said += speaker.results(answers)
    if turns != TURNS or answers:
        raise RuntimeError(f"the conversation had {turns} turns, and {TURNS} were to be had")
    judge(speaker)


def judge(speaker):
    """The conversation as the next request would have it."""
    speaker.validate(speaker.said)
    wrong = [(calls, answers) for calls, answers in speaker.pairing(speaker.said) if calls != answers]
    if wrong:
        raise RuntimeError(f"calls and answers don't go together: {wrong}")
    paired = [len(calls) for calls, _ in speaker.pairing(speaker.said)]
    if paired != [2, 3, 1]:
        raise RuntimeError(f"the turns had {paired} calls")
    texts = speaker.texts(speaker.said)
    wanted = ["3", "70.7", None, None, None, "4"]
    if len(texts) != len(wanted) or any(want and want not in text for want, text in zip(wanted, texts)):
        raise RuntimeError(f"the results are {texts}")
    # The two broken ones are told what is wrong with them, and the one without arguments ran.
    if any("`add`" not in text for text in texts[3:5]) or "invalid" in texts[2].lower():
        raise RuntimeError(f"the results are {texts}")


def recorded(provider, url, body):
    """A response with arguments that the mock can't serve: all of its calls are answered, and the SDK takes them back."""
    speaker = provider(url)
    text = body if isinstance(body, str) else json.dumps(body)
    if isinstance(body, str):
        said = replay(speaker.name, text, stream=True)
        speaker.said += said["history"] if isinstance(said["history"], list) else [said["history"]]
        answers = said["results"]
    else:
        speaker.said += speaker.history(text)
        answers = replay(speaker.name, text)
    speaker.said += speaker.results(answers)
    speaker.validate(speaker.said)
    pairs = list(speaker.pairing(speaker.said))
    if not pairs or any(calls != answers for calls, answers in pairs):
        raise RuntimeError(f"calls and answers don't go together: {pairs}")
    texts = speaker.texts(speaker.said)
    if not any(words in texts[1] for words in ("`b`: missing", "cut off before their end")):
        raise RuntimeError(f"the results are {texts}")
    # The mock has turns for it, whatever it was answered.
    speaker.ask(False)


def agent(url):
    """`agent` talks to the mock itself, in streams, with nobody there to say yes."""
    command = [AGENT, "--base-url", f"{url}/v1", "--model", "gpt-5", "count"]
    ran = subprocess.run(command, input=b"n\n" * 8, capture_output=True, timeout=60)
    out = ran.stdout.decode()
    if ran.returncode != 0 or "There are seven words." not in out:
        raise RuntimeError(f"it ended with {ran.returncode}: {out} {ran.stderr.decode()}")
    for text in ("count_words: 7", "notes.txt", "✗ count_words", "✗ write_file"):
        if text not in out:
            raise RuntimeError(f"{text!r} is not in {out}")


def journal(url):
    """Every request that the mock was sent had each call answered once, directly behind it."""
    with urllib.request.urlopen(f"{url}/__aimock/journal", timeout=10) as answer:
        entries = json.load(answer)
    entries = entries if isinstance(entries, list) else entries.get("entries", entries.get("requests"))
    checked = 0
    for entry in entries:
        body = entry.get("body") or {}
        messages = body.get("messages") or []
        open_calls = []
        for message in messages:
            if message.get("role") == "tool" and not message.get("tool_call_id"):
                # Of providers that match by order; the mock gives their calls identifiers, and not their results.
                if not open_calls:
                    raise RuntimeError(f"a result that no call asked for: {message}")
                open_calls.pop(0)
            elif message.get("role") == "tool":
                if message["tool_call_id"] not in open_calls:
                    raise RuntimeError(f"a result that no call asked for: {message}")
                open_calls.remove(message["tool_call_id"])
            elif open_calls and not (message.get("role") == "assistant" and message.get("tool_calls")):
                raise RuntimeError(f"no result for {open_calls} before {message}")
            elif message.get("role") == "assistant":
                calls = message.get("tool_calls") or []
                # The mock takes each call of Responses for a message.
                open_calls += [call["id"] for call in calls if call.get("id")]
                checked += len(calls)
        if open_calls:
            raise RuntimeError(f"no result for {open_calls}")
    if checked < 20:
        raise RuntimeError(f"only {checked} calls were in the journal of {len(entries)} requests")


def attempt(check, of, action, *arguments):
    try:
        action(*arguments)
        report(check, of, None)
    except Exception as error:  # whatever went wrong is what is reported
        report(check, of, f"{type(error).__name__}: {error}")


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    command = [NODE, AIMOCK, "-p", str(port), "-f", str(HERE / "fixtures.json"), "-c", "8", "--log-level", "warn"]
    server = subprocess.Popen(command, stdout=sys.stderr)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.05)
        for provider in PROVIDERS:
            for stream in (False, True):
                of = f"{provider.name}{', streamed' if stream else ''}"
                attempt("conversation", of, converse, provider, url, stream)
        bodies = json.loads((HERE / "recorded.json").read_text())
        for provider in PROVIDERS:
            for kind, body in bodies.get(provider.name, {}).items():
                attempt("recorded", f"{provider.name}, {kind}", recorded, provider, url, body)
        attempt("agent", "openai, streamed", agent, url)
        attempt("journal", "all requests", journal, url)
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    NODE, AIMOCK, REPLAY, AGENT = sys.argv[1:]
    os.environ["NO_PROXY"] = "127.0.0.1"
    main()
