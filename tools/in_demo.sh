#!/usr/bin/env bash
# Run a module in the demo's clone; do nothing where there is no demo.
#
#     tools/in_demo.sh annotation.server stop
#
# It takes the environment as it is: changed pins must not keep the demo from being stopped.
set -euo pipefail

[ -d .demo ] || exit 0
[ -x .venv/bin/python ] || make --no-print-directory setup
export PATH="$PWD/.venv/bin:$PATH"
cd .demo
exec python -m "$@"
