#!/usr/bin/env bash
# npm run check: types, lint, format, layers and generated pages, each with the processor time that it took. Only what changed since the
# last run is looked at again, where a tool can tell. Lint by types is left to npm run lint:types, which .ci/run runs.
cd "$(dirname "$0")/.." || exit
TIMEFORMAT='  %U s of processor time'
failed=()

step() {
  echo "$1"
  shift
  time "$@" || failed+=("$*")
}

step types npm run --silent typecheck
step lint npm run --silent lint
step format npm run --silent format:check
step layers npm run --silent layers
step 'generated pages' npm run --silent docs:check

# The second line of `times` is of all that this shell started; in a pipe it would be another shell.
total=$(mktemp)
times >"$total"
awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += 60 * part[1] + part[2] }
  printf "%.1f s of processor time in all\n", sum }' "$total"
rm -f "$total"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
