#!/usr/bin/env bash
# What other people's programs say: what providers take, by their own SDKs and documents; conversations of those SDKs
# with the examples; and, by `mcp.sh`, MCP both ways.
#
#     tests/conformance/run.sh [CATALOGUE.json ...]
#
# A catalogue is a server's answer to `tools/list`; without any, those of `tests/data/catalogues` are read. What it needs
# is said in `tools.sh`. Closes with a line `N passed, M failed`, and fails if M isn't 0 or something can't be installed.
set -euo pipefail
. "$(dirname "$0")/tools.sh"

catalogues=()
for file in "$@"; do catalogues+=("$(cd "$(dirname "$file")" && pwd)/$(basename "$file")"); done
if [ ${#catalogues[@]} -eq 0 ]; then
  catalogues=("$root"/tests/data/catalogues/*.json)
  echo "no catalogues were named: the small ones of tests/data/catalogues are read, and no others"
fi

cd "$root"
cargo build --quiet --package tests --example exports
cargo build --quiet --package examples --example replay --example agent
bin=$(cargo metadata --format-version 1 --no-deps | "$python" -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/debug/examples

out=$cache/out
rm -rf "$out"
mkdir -p "$out"
"$bin/exports" "${catalogues[@]}" >"$out/exports.jsonl"
(cd "$tools" && "$node" "$here/oracles.mjs" "$out/exports.jsonl") >"$out/javascript.jsonl"
"$python" "$here/oracles.py" "$out/exports.jsonl" >"$out/python.jsonl"
"$python" "$here/conversation.py" "$node" "$tools/node_modules/@copilotkit/aimock/dist/cli.js" "$bin/replay" "$bin/agent" \
  >"$out/conversation.jsonl" 2>"$out/mock.log"
# Both are run whatever the first says: a report names all that is wrong.
{
  "$python" "$here/summary.py" "$out"/{javascript,python,conversation}.jsonl || true
  "$here/mcp.sh" || true
} | tee "$out/report.txt"
awk '/^[0-9]+ passed, [0-9]+ failed$/ { parts++; passed += $1; failed += $3 }
  END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || parts != 2 }' "$out/report.txt"
