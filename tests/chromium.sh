# Sourced by the tests in a browser: installs what drives one, and names one in CHROMIUM.
# What can be had is installed; where that is not enough, it says "skipped: …" and ends the test.

skip() {
  echo "skipped: $1"
  exit 0
}

for tool in node npm; do
  command -v "$tool" >/dev/null || skip "$tool is not installed"
done
tests=$(dirname "$(realpath -- "${BASH_SOURCE[0]}")")
if ! cmp -s "$tests/package-lock.json" "$tests/node_modules/installed"; then
  npm ci --prefix "$tests" --no-audit --no-fund --loglevel=error || skip "npm cannot install the browser's driver"
  cp "$tests/package-lock.json" "$tests/node_modules/installed"
fi
CHROMIUM=$(node "$tests/chromium.mjs") || skip "no Chromium draws pages here; name one in CHROMIUM"
export CHROMIUM
