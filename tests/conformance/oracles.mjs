// What the official JavaScript SDKs make of strict schemas: they have to take them, and to leave them as they are.
//
//     node oracles.mjs EXPORTS.jsonl
//
// Prints a line of JSON for each check: {"check", "of", "problem"}, without a problem if it passed.

import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";

// Installed in the cache folder, which is the working folder; not beside this file.
const require = createRequire(`${process.cwd()}/`);
const { toStrictJsonSchema } = require("openai/lib/transform");
const { transformJSONSchema } = require("@anthropic-ai/sdk/lib/transform-json-schema");

const transforms = {
  OpenAiChat: ["openai.js", toStrictJsonSchema],
  OpenAiResponses: ["openai.js", toStrictJsonSchema],
  Anthropic: ["anthropic.js", transformJSONSchema],
};

/** What a transform has moved or dropped, as the first place where it differs. */
function difference(before, after, at = "") {
  if (isDeepStrictEqual(before, after)) return undefined;
  // A set, which the SDK writes in the order of the properties.
  if (at.endsWith("/required") && Array.isArray(before) && Array.isArray(after)) {
    if (isDeepStrictEqual(before.toSorted(), after.toSorted())) return undefined;
  }
  if (typeof before !== "object" || typeof after !== "object" || !before || !after) return at || "/";
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!(key in before)) return `${at}/${key} is new`;
    if (!(key in after)) return `${at}/${key} is gone`;
    const inner = difference(before[key], after[key], `${at}/${key}`);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** `default` is no constraint, and the type beside an `enum` is implied by it: the SDK says them otherwise. */
function expected(provider, schema) {
  if (provider !== "Anthropic" || typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((inner) => expected(provider, inner));
  const out = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "type" && "enum" in schema) continue;
    if (keyword === "properties" || keyword === "$defs") {
      out[keyword] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, expected(provider, inner)]));
    } else if (keyword === "default") {
      const said = `{default: ${JSON.stringify(value)}}`;
      out.description = schema.description ? `${schema.description}\n\n${said}` : said;
    } else if (!(keyword === "description" && "default" in schema)) {
      out[keyword] = keyword === "enum" || keyword === "required" ? value : expected(provider, value);
    }
  }
  return out;
}

for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  const form = JSON.parse(line);
  for (const tool of form.tools) {
    if (!tool.strict || !(form.provider in transforms)) continue;
    const [check, transform] = transforms[form.provider];
    const of = `${form.set}/${tool.name} for ${form.provider}, ${form.strict}${form.sources ? ", with sources" : ""}`;
    let problem;
    try {
      const changed = difference(expected(form.provider, tool.parameters), transform(structuredClone(tool.parameters)));
      problem = changed && `the SDK changes it: ${changed}`;
    } catch (error) {
      problem = `the SDK refuses it: ${error.message}`;
    }
    console.log(JSON.stringify({ check, of, problem }));
  }
}
