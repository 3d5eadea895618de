#!/usr/bin/env bash
# What providers take, by their own SDKs and documents; and conversations of those SDKs with the examples.
#
#     tests/conformance/run.sh [CATALOGUE.json ...]
#
# A catalogue is a server's answer to `tools/list`; without any, those of `tests/data/catalogues` are read. Needs Rust and
# Python 3; all else is installed into `target/conformance` (or $CONFORMANCE_CACHE) from the package registries, pinned
# by the files here. Closes with a line `N passed, M failed`, and fails if M isn't 0 or something can't be installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${CONFORMANCE_CACHE:-${CARGO_TARGET_DIR:-$root/target}/conformance}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

catalogues=()
for file in "$@"; do catalogues+=("$(cd "$(dirname "$file")" && pwd)/$(basename "$file")"); done
if [ ${#catalogues[@]} -eq 0 ]; then
  catalogues=("$root"/tests/data/catalogues/*.json)
  echo "no catalogues were named: the small ones of tests/data/catalogues are read, and no others"
fi

# Each set of tools has a folder of its own, so that a change of the pins installs anew.
pins=$(cat "$here"/requirements.txt "$here"/package-lock.json | sha256sum | cut -c1-16)
tools=$cache/$pins
if [ ! -e "$tools/complete" ]; then
  rm -rf "$tools"
  mkdir -p "$tools"
  python3 -m venv "$tools/venv"
  "$tools/venv/bin/pip" install --quiet --require-virtualenv --requirement "$here/requirements.txt"
  cp "$here/package.json" "$here/package-lock.json" "$tools/"
  # npm comes with the node of the venv.
  (cd "$tools" && PATH=$tools/venv/bin:$PATH npm ci --silent --no-audit --no-fund --ignore-scripts)
  touch "$tools/complete"
fi
python=$tools/venv/bin/python
node=$tools/venv/bin/node
major=$("$node" --version | sed -E 's/^v([0-9]+).*/\1/')
[ "$major" -ge 22 ] || { echo "node is version $major, and has to be 22 at least"; exit 1; }

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
"$python" "$here/summary.py" "$out"/{javascript,python,conversation}.jsonl
