"""What the official Python SDKs, and rules drawn from the providers' documents, make of exported tools.

    python oracles.py EXPORTS.jsonl

Prints a line of JSON for each check: {"check", "of", "problem"}; the problem is null if it passed. Refusals are lines
with "refused", for a person to read.
"""

import copy
import hashlib
import json
import re
import sys
from urllib.parse import unquote

import anthropic
from agents.strict_schema import ensure_strict_json_schema
from google.genai import types as genai
from mcp_strict_check.rules import anthropic as anthropic_rules
from mcp_strict_check.rules import mcp_openai as openai_rules
from ollama._types import Tool as OllamaTool
from openai.lib._pydantic import _ensure_strict_json_schema
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

# A keyword whose value is a schema, a list of schemas, or schemas by name. All else is data.
ONE = {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
       "unevaluatedProperties", "unevaluatedItems", "additionalItems"}
LIST = {"anyOf", "oneOf", "allOf", "prefixItems"}
NAMED = {"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}


def schemas(schema, pointer=""):
    """Every schema in a schema, with its place."""
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for keyword, value in schema.items():
        if keyword in ONE or (keyword == "items" and isinstance(value, dict)):
            yield from schemas(value, f"{pointer}/{keyword}")
        if keyword in LIST | {"items"} and isinstance(value, list):
            for index, inner in enumerate(value):
                yield from schemas(inner, f"{pointer}/{keyword}/{index}")
        if keyword in NAMED and isinstance(value, dict):
            for name, inner in value.items():
                yield from schemas(inner, f"{pointer}/{keyword}/{name}")


# ---- names and keys, as the providers' error messages and documents give them

NAMES = {
    "OpenAiChat": r"[a-zA-Z0-9_-]{1,64}",
    "OpenAiCompatible": r"[a-zA-Z0-9_-]{1,64}",
    "OpenAiResponses": r"[a-zA-Z0-9_-]{1,64}",
    "Anthropic": r"[a-zA-Z0-9_-]{1,128}",
    "Gemini": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}",
    "Ollama": r"[a-zA-Z0-9_-]{1,64}",
}
KEYS = {"Anthropic": r"[a-zA-Z0-9_.-]{1,64}", "Gemini": r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"}

# Keywords of `parametersJsonSchema` that are documented.
GEMINI_JSON_SCHEMA = {
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems",
    "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required",
    "propertyOrdering",
}
# What llama.cpp skips without a word, besides what only annotates.
LLAMA_SKIPS = {"uniqueItems", "not", "if", "then", "else", "patternProperties", "$anchor", "prefixItems", "allOf",
               "oneOf", "contains", "propertyNames", "dependentRequired"}


def forms(provider, tool):
    """All problems with how one tool is declared."""
    declaration, parameters = tool["declaration"], tool["parameters"]
    if not re.fullmatch(NAMES[provider], tool["wire_name"]):
        yield "names", f"the name {tool['wire_name']!r} is not legal"
    root_words = {"oneOf", "anyOf", "allOf", "enum", "const", "not", "$ref"} & parameters.keys()
    if parameters.get("type") != "object" or root_words:
        yield "root", f"the root is no plain object: {sorted(root_words)}"
    for pointer, schema in schemas(parameters):
        for key in schema.get("properties", {}):
            if provider in KEYS and not re.fullmatch(KEYS[provider], key):
                yield "keys", f"{pointer}: the key {key!r} is not legal"
        if provider.startswith("OpenAi"):
            types = schema.get("type")
            if (types == "array" or isinstance(types, list) and "array" in types) and "items" not in schema:
                yield "openai.any", f"{pointer}: array schema missing items"
            for keyword in {"oneOf", "allOf"} & schema.keys():
                yield "openai.any", f"{pointer}: '{keyword}' is not permitted"
        if provider == "OpenAiCompatible":
            for keyword in sorted(LLAMA_SKIPS & schema.keys()):
                yield "llama.cpp", f"{pointer}: `{keyword}` is skipped without a word"
            if {"anyOf", "properties"} <= schema.keys():
                yield "llama.cpp", f"{pointer}: `properties` and `anyOf` can't be mixed"
    if provider == "Gemini":
        yield from gemini(declaration)
    elif provider == "Ollama":
        kept = OllamaTool.model_validate(declaration).model_dump(exclude_none=True)
        for name, schema in declaration["function"]["parameters"].get("properties", {}).items():
            after = kept["function"]["parameters"].get("properties", {}).get(name, {})
            gone = {"type", "items", "description", "enum"} & schema.keys() - after.keys()
            if gone:
                yield "ollama.py", f"/properties/{name}: the SDK drops {sorted(gone)}"
    elif provider == "Anthropic":
        wanted = TypeAdapter(anthropic.types.ToolParam)
        wanted.validate_python(declaration, strict=True)
        unknown = declaration.keys() - {"name", "description", "input_schema", "strict", "defer_loading"}
        if unknown:
            yield "anthropic.py", f"unknown members {sorted(unknown)}"
        if not endless(parameters):
            for code, message, where in anthropic_rules.check_C({"inputSchema": parameters})[0]:
                yield "mcp-strict-check", f"{code} {message} {where}"
    else:
        responses = provider == "OpenAiResponses"
        wanted = TypeAdapter(FunctionToolParam if responses else ChatCompletionFunctionToolParam)
        wanted.validate_python(declaration, strict=True)
        inner = declaration if responses else declaration["function"]
        if responses and not isinstance(inner.get("strict"), bool):
            yield "openai.py", "`strict` has to be said"
    if tool["strict"]:
        yield from strict(provider, parameters)


def gemini(declaration):
    # Unknown members are refused, as by the API.
    genai.FunctionDeclaration.model_validate(declaration)
    genai.Tool.model_validate({"functionDeclarations": [declaration]})
    if "parameters" in declaration:
        for pointer, schema in schemas(declaration["parameters"]):
            if isinstance(schema.get("type"), list):
                yield "google-genai", f"{pointer}: several types"
            # In the SDK's type, and refused by the API.
            for keyword in {"additionalProperties", "$ref", "$defs", "const"} & schema.keys():
                yield "google-genai", f"{pointer}: `{keyword}`"
            if schema.get("type") == "object" and schema.get("properties") == {}:
                yield "google-genai", f"{pointer}: `properties` should be non-empty"
            if any(not isinstance(value, str) for value in schema.get("enum", [])):
                yield "google-genai", f"{pointer}: a value of `enum` is no string"
    if "parametersJsonSchema" in declaration:
        if "parameters" in declaration:
            yield "google-genai", "both `parameters` and `parametersJsonSchema`"
        for pointer, schema in schemas(declaration["parametersJsonSchema"]):
            for keyword in sorted(schema.keys() - GEMINI_JSON_SCHEMA):
                yield "google-genai", f"{pointer}: `{keyword}` is not documented"
            if "$ref" in schema and any(not keyword.startswith("$") for keyword in schema):
                yield "google-genai", f"{pointer}: `$ref` with siblings"


def endless(parameters):
    """References that double each other, which that rule would follow one by one: the schema `bomb` of our own."""
    return sum(1 for _ in references(parameters)) > 20 and len(parameters.get("$defs", {})) > 20


def strict(provider, parameters):
    """The strict form of a tool, by the SDKs and the documents."""
    as_tool = {"inputSchema": parameters}
    if provider == "Anthropic":
        for code, message, where in [] if endless(parameters) else anthropic_rules.check_C(as_tool)[1]:
            yield "mcp-strict-check", f"{code} {message} {where}"
        # The SDK runs this over schemas of outputs, never over tools. It takes no list of types, which the API does.
        listless = copy.deepcopy(parameters)
        for _, schema in list(schemas(listless)):
            if isinstance(schema.get("type"), list):
                types = schema.pop("type")
                inner = {keyword: schema.pop(keyword) for keyword in list(schema) if keyword != "description"}
                schema["anyOf"] = [{"type": kind, **(inner if kind != "null" else {})} for kind in types]
        anthropic.transform_schema(listless)
        return
    for code, message, where in openai_rules.check_B(as_tool)[0]:
        yield "mcp-strict-check", f"{code} {message} {where}"
    for check, ensure in [
        ("openai.py", lambda schema: _ensure_strict_json_schema(schema, path=(), root=schema)),
        ("openai-agents", ensure_strict_json_schema),
    ]:
        after = ensure(copy.deepcopy(parameters))
        if canonical(after) != canonical(parameters):
            yield check, "the SDK changes it"


def canonical(schema):
    """With `required` as the set that it is."""
    copied = copy.deepcopy(schema)
    for _, inner in schemas(copied):
        if isinstance(inner.get("required"), list):
            inner["required"].sort()
    return json.dumps(copied, sort_keys=True)


# ---- nothing is lost silently

# What constrains, and is a keyword of its own in every form that has it.
KEYWORDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
            "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "not", "if", "contains",
            "propertyNames", "dependentRequired", "patternProperties"}
# Bounds of 64-bit integers and single floats: models don't go there.
WIDTHS = {"-9223372036854775808", "9223372036854775807", "18446744073709551615", "-3.4028235e+38", "3.4028235e+38",
          "9.223372036854776e+18", "-9.223372036854776e+18", "1.8446744073709552e+19"}


class OnTheWire:
    """Values with the names of properties that a form has for those of the schema. A form that asks for every member
    has null for those that may be left out."""

    def __init__(self, full, form):
        keys = {key for _, schema in schemas(form) for key in schema.get("properties", {})}
        digests = {key[-8:]: key for key in keys if key[-9:-8] == "_"}
        names = {name for _, schema in schemas(full) for name in schema.get("properties", {})} - keys
        self.spelt = {name: digests.get(hashlib.sha256(name.encode()).hexdigest()[:8], name) for name in names}

    def value(self, value, words=False):
        """With `words`, the texts in lists are names as well."""
        if isinstance(value, dict):
            inner = {name: one for name, one in value.items() if one is not None}
            return {self.spelt.get(name, name): self.value(one, words) for name, one in inner.items()}
        if isinstance(value, list):
            return [self.spelt.get(one, one) if words and isinstance(one, str) else self.value(one, words) for one in value]
        return value


def silent_losses(tool, sources):
    """Keywords of the full schema that are neither in the form nor on the list of losses."""
    full, form = tool["schema"], tool["parameters"]
    lost = {loss["keyword"] for loss in tool["losses"]}
    said = json.dumps([schema.get("description", "") for _, schema in schemas(form)], ensure_ascii=False)
    there = {}
    plain, wire = OnTheWire(form, form), OnTheWire(full, form)
    for _, schema in schemas(form):
        for keyword, value in schema.items():
            if keyword in ("default", "enum", "const") or keyword in KEYWORDS:
                there.setdefault(keyword, []).append(plain.value(value))
    # Only what can be reached constrains anything.
    reached = reachable(full)
    for pointer, schema in schemas(full):
        steps = pointer.split("/")[1:]
        if steps[:1] in (["$defs"], ["definitions"]) and "#/" + "/".join(steps[:2]) not in reached:
            continue
        # A union is said to be lost as a whole.
        if any(step in lost for step in ("oneOf", "anyOf", "allOf")) or re.search(r"/(not|if|then|else|contains|propertyNames|patternProperties)(/|$)", pointer):
            continue
        for keyword, value in schema.items():
            if keyword in ("default", "enum", "const") or keyword in KEYWORDS:
                value = wire.value(value, words=keyword in KEYWORDS)
            if keyword == "description" and isinstance(value, str) and value.strip():
                # What refers to a definition may describe it in words of its own.
                definition = len(steps) == 2 and steps[0] in ("$defs", "definitions")
                if json.dumps(value.strip(), ensure_ascii=False)[1:-1] not in said and pointer and not definition:
                    yield f"{pointer}/description"
            elif keyword == "default" and value is not None:
                shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
                # The members of an object are said in another order.
                in_words = "Default: {" if isinstance(value, dict) and value else shown
                if value not in there.get("default", []) and json.dumps(in_words, ensure_ascii=False)[1:-1] not in said:
                    yield f"{pointer}/default"
            elif keyword == "enum":
                listed = [value for values in there.get("enum", []) for value in values]
                missing = [one for one in value if one not in listed and one is not None]
                if missing and not {"enum", "const"} & lost:
                    yield f"{pointer}/enum"
            elif keyword == "const" and value is not None:
                listed = [value for values in there.get("enum", []) for value in values]
                if value not in listed and not {"enum", "const"} & lost:
                    yield f"{pointer}/const"
            elif keyword in KEYWORDS and keyword not in lost:
                if json.dumps(value) in WIDTHS or (keyword == "uniqueItems" and not value):
                    continue
                if keyword in ("minLength", "minItems", "minProperties") and value == 0:
                    continue
                # Of integers, the same in other words.
                if schema.get("type") == "integer" and isinstance(value, int):
                    if keyword == "exclusiveMinimum" and value + 1 in there.get("minimum", []):
                        continue
                    if keyword == "exclusiveMaximum" and value - 1 in there.get("maximum", []):
                        continue
                if value not in there.get(keyword, []):
                    yield f"{pointer}/{keyword}"
    # Every property can still be named.
    keys = {key for _, schema in schemas(form) for key in schema.get("properties", {})}
    for name in full.get("properties", {}):
        if name not in keys and not any(key.startswith(re.sub(r"[^a-zA-Z0-9_]", "_", name)[:8]) or key.startswith("_") for key in keys):
            yield f"/properties/{name}"
    if sources and not any(key.startswith("sources") for key in form["properties"]):
        yield "the property for sources"


def references(schema):
    for _, inner in schemas(schema):
        if isinstance(inner.get("$ref"), str):
            yield inner["$ref"]


def reachable(full):
    """The definitions to which something leads from the root."""
    reached, pending = set(), [{keyword: value for keyword, value in full.items() if keyword not in ("$defs", "definitions")}]
    while pending:
        for target in references(pending.pop()):
            target = unquote(target)
            if target not in reached and target.startswith("#/"):
                reached.add(target)
                inner = full
                for step in target[2:].split("/"):
                    inner = inner.get(step.replace("~1", "/").replace("~0", "~"), {}) if isinstance(inner, dict) else {}
                pending.append(inner)
    return reached


# What may be refused: `require` alone, and only what no strict form has.
REASONS = (
    "an object with members of any name has no strict form",
    "a value of any form has no strict form",
    "a schema that holds itself has no form here",
    "all strict tools together may have at most",
    "are taken",
)


def main():
    tampered()
    refused = {}
    for line in open(sys.argv[1], encoding="utf-8"):
        form = json.loads(line)
        provider = form["provider"]
        names = [tool["wire_name"] for tool in form["tools"] if tool["declaration"]]
        report("distinct names", label(form, None), None if len(names) == len(set(names)) else "two tools of one name")
        for tool in form["tools"]:
            of = label(form, tool["name"])
            if tool["fit"] == "refused":
                reason = tool["refusal"]["reason"]
                # For OpenAI, of what servers have, only what is open.
                reasons = REASONS[:2] if provider.startswith("OpenAi") and form["set"] != "own" else REASONS
                allowed = form["strict"] == "Require" and any(known in reason for known in reasons)
                report("refusals", of, None if allowed else f"refused {reason}")
                refused.setdefault((form["set"], tool["name"], reason), set()).add(provider)
                continue
            problems = []
            try:
                problems.extend(f"{check}: {problem}" for check, problem in forms(provider, tool))
            except Exception as error:  # whatever an SDK raises is a refusal
                problems.append(f"the SDK refuses it: {type(error).__name__}: {error}")
            report("forms", of, "; ".join(problems) or None)
            lost = sorted(set(silent_losses(tool, form["sources"])))
            report("silent losses", of, f"lost without a word: {', '.join(lost)}" if lost else None)
    for (tools, name, reason), providers in sorted(refused.items()):
        print(json.dumps({"refused": f"{tools}/{name} for {', '.join(sorted(providers))}, if strict is required: {reason}"}))


def tampered():
    """Forms that are wrong on purpose: an oracle that takes them is none."""
    full = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}, "o": {"type": "string"}}}
    form = {**full, "required": ["n", "o"], "additionalProperties": False}
    no_form = lambda change: {**form, "properties": {**form["properties"], **change}}
    declare = {
        "OpenAiChat": lambda schema: {"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}},
        "Anthropic": lambda schema: {"name": "t", "description": "d", "input_schema": schema},
        "Gemini": lambda schema: {"name": "t", "description": "d", "parameters": schema},
    }
    cases = [
        ("OpenAiChat", True, {**form, "required": ["n"]}, "not required"),
        ("OpenAiChat", True, no_form({"m": {"type": "object"}}), "an open map"),
        ("OpenAiChat", False, {**form, "oneOf": []}, "a union at the root"),
        ("OpenAiChat", False, no_form({"l": {"type": "array"}}), "a list without items"),
        ("Anthropic", True, form, "a bound"),
        ("Anthropic", False, no_form({"$top": {}}), "a key"),
        ("Gemini", False, form, "a closed object"),
        ("Gemini", False, no_form({"c": {"const": 1}}), "a constant"),
    ]
    for provider, is_strict, schema, what in cases:
        tool = {"wire_name": "t", "declaration": declare[provider](schema), "parameters": schema, "strict": is_strict}
        try:
            found = list(forms(provider, tool))
        except Exception as error:
            found = [error]
        report("tampered", f"{what} for {provider}", None if found else "nobody saw it")
    tool = {"schema": full, "parameters": {**form, "properties": {"n": {"type": "integer"}, "o": {"type": "string"}}}, "losses": []}
    report("tampered", "a bound that is lost", None if list(silent_losses(tool, False)) else "nobody saw it")
    tool = {"schema": full, "parameters": {**form, "properties": {"n": form["properties"]["n"]}}, "losses": []}
    report("tampered", "a property that is lost", None if list(silent_losses(tool, False)) else "nobody saw it")


def label(form, tool):
    at = f"{form['set']}/{tool}" if tool else form["set"]
    return f"{at} for {form['provider']}, {form['strict']}{', with sources' if form['sources'] else ''}"


def report(check, of, problem):
    print(json.dumps({"check": check, "of": of, "problem": problem}, ensure_ascii=False))


if __name__ == "__main__":
    main()
