#!/usr/bin/env bash
# Makes docs/report.png anew: the top of the demonstration's report as a browser
# shows it. Needs the Rust toolchain and chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cargo run --release --quiet -- demo --out-dir "$folder/demo"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$folder/profile" --hide-scrollbars \
  --window-size=1280,2040 --screenshot="$PWD/docs/report.png" "file://$folder/demo/report.html" 2> "$folder/said" ||
  { cat "$folder/said" >&2; exit 1; }
