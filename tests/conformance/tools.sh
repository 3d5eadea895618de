# What the scripts here need of the package registries, installed into `target/conformance` (or $CONFORMANCE_CACHE) and
# pinned by the files here. To be sourced: sets `here`, `root`, `cache`, `python`, `node`, and `tools`, the folder with
# the packages of npm (of MCP's programs in its `mcp`). Needs Python 3.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${CONFORMANCE_CACHE:-${CARGO_TARGET_DIR:-$root/target}/conformance}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

# Each set of tools has a folder of its own, so that a change of the pins installs anew.
pins=$(cat "$here"/requirements.txt "$here"/{,mcp/}package-lock.json | sha256sum | cut -c1-16)
tools=$cache/$pins
python=$tools/venv/bin/python
node=$tools/venv/bin/node
if [ ! -e "$tools/complete" ]; then
  rm -rf "$tools"
  mkdir -p "$tools/mcp"
  python3 -m venv "$tools/venv"
  "$tools/venv/bin/pip" install --quiet --require-virtualenv --requirement "$here/requirements.txt"
  # npm comes with the node of the venv.
  for set in . mcp; do
    cp "$here/$set"/package{,-lock}.json "$tools/$set/"
    (cd "$tools/$set" && PATH=$tools/venv/bin:$PATH npm ci --silent --no-audit --no-fund --ignore-scripts)
  done
  touch "$tools/complete"
fi
major=$("$node" --version | sed -E 's/^v([0-9]+).*/\1/')
[ "$major" -ge 22 ] || { echo "node is version $major, and has to be 22 at least"; exit 1; }
