#!/usr/bin/env bash
# Run a module in the demo's clone; do nothing if there is no demo.
#
#     tools/in_demo.sh annotation.server stop
#
# It uses the environment as it is: changed pins must not prevent stopping the demo.
set -euo pipefail

[ -d .demo ] || exit 0
[ -x .venv/bin/python ] || make --no-print-directory setup
export PATH="$PWD/.venv/bin:$PATH"
cd .demo
exec python -m "$@"
