#!/usr/bin/env bash
# What other people's programs say of the MCP server, client and gate: the MCP conformance suite (both revisions),
# mcp-strict-check, the Inspector, the Python client, and real servers behind the gate. A part of `run.sh`, and alone:
#
#     tests/conformance/mcp.sh
#
# What it needs is said in `tools.sh`. Ends with a line "N passed, M failed", and fails if M isn't 0.
set -euo pipefail
. "$(dirname "$0")/tools.sh"
programs=$here/mcp modules=$tools/mcp/node_modules
conformance=$modules/@modelcontextprotocol/conformance/dist/index.js
export PATH=$tools/venv/bin:$PATH
folder=$cache/out-mcp
rm -rf "$folder"
mkdir -p "$folder"
cd "$root"
cargo build --quiet --package examples --features mcp --examples
bin=${CARGO_TARGET_DIR:-$root/target}/debug/examples

# From here on what fails is counted.
set +e
passed=0 failed=0

say() { # WHAT STATUS
  if [ "$2" = 0 ]; then passed=$((passed + 1)) && echo "ok $1"; else failed=$((failed + 1)) && echo "FAILED $1"; fi
}

# As many files may be open as there are calls at a time below.
ulimit -n 4096
behind=$(mktemp -d)
printf '[[rule]]\ndecision = "allow"\ntool = "*"\n' >"$behind/rules.toml"
"$bin/mcp_gate" --policy "$behind/rules.toml" --pin update -- "$bin/mcp_server" >/dev/null
"$bin/mcp_server" --http 127.0.0.1:3902 &
server=$!
"$bin/mcp_gate" --policy "$behind/rules.toml" --http 127.0.0.1:3904 -- "$bin/mcp_server" 2>"$folder/gate.log" &
gate=$!
trap 'kill $server $gate 2>/dev/null; wait; rm -rf "$behind"' EXIT
for port in 3902 3904; do
  for _ in $(seq 100); do (: </dev/tcp/127.0.0.1/$port) 2>/dev/null && break || sleep 0.1; done
done

for revision in 2025-11-25 2026-07-28; do
  for what in "server 3902" "gate 3904"; do
    read -r name port <<<"$what"
    log=$folder/$name-$revision.log
    timeout 300 node "$conformance" server --url http://localhost:$port/mcp --requirements "$revision" \
      --expected-failures "$programs/baseline-$revision.yml" -o "$folder/out-$name-$revision" >"$log" 2>&1
    status=$?
    say "the suite, $name, $revision ($(grep '^Total:' "$log"))" $status
    # A scenario that concerns tools and isn't in the baseline.
    for scenario in $(sed -n 's/^✓ \(\(tools\|json\|input\|http\|dns\|server\|elicitation\)-[^:]*\):.*/\1/p' "$log"); do
      say "the suite, $name, $revision: $scenario" 0
    done
  done
done

for scenario in tools_call json-schema-2020-12-preservation; do
  for revision in 2025-11-25 2026-07-28; do
    timeout 120 node "$conformance" client --command "$bin/mcp_client" --scenario $scenario \
      --spec-version $revision -o "$folder/out-client" >"$folder/client-$scenario-$revision.log" 2>&1
    say "the suite, client, $revision: $scenario" $?
  done
done
for scenario in request-metadata http-standard-headers http-custom-headers http-invalid-tool-headers json-schema-ref-no-deref; do
  timeout 120 node "$conformance" client --command "$bin/mcp_client" --scenario $scenario \
    --spec-version 2026-07-28 -o "$folder/out-client" >"$folder/client-$scenario.log" 2>&1
  say "the suite, client, 2026-07-28: $scenario" $?
done

mcp-strict-check --cmd "$bin/mcp_server" --axis mcp >"$folder/strict.log" 2>&1
say "mcp-strict-check" $?
node "$modules/.bin/mcp-inspector" --cli --strict --method tools/list "$bin/mcp_server" >"$folder/inspector.log" 2>&1
say "the Inspector's strict listing" $?

python "$programs/clients.py" "$bin/mcp_server" "$bin/mcp_gate" "$bin/mcp_client" "$modules/.bin" >"$folder/clients.log" 2>"$folder/clients.err"
grep -h '^ok\|^FAILED' "$folder/clients.log"
read -r ok _ wrong _ <<<"$(tail -n 1 "$folder/clients.log" | sed 's/,//')"
if [[ $ok =~ ^[0-9]+$ && $wrong =~ ^[0-9]+$ ]]; then
  passed=$((passed + ok)) failed=$((failed + wrong))
else
  say "the Python client ran to its end (see $folder/clients.err)" 1
fi

# A thousand calls at a time, against the server and the gate.
for revision in 2025-11-25 2026-07-28; do
  for what in "server 3902 $server" "gate 3904 $gate"; do
    read -r name port process <<<"$what"
    timeout 300 "$bin/mcp_load" "127.0.0.1:$port" "$process" $revision 1000 >"$folder/load-$name-$revision.log" 2>&1
    status=$?
    say "1,000 calls at a time, five times, $revision, $name ($(tail -n 1 "$folder/load-$name-$revision.log"))" $status
  done
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
