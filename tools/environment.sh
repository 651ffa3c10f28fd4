#!/usr/bin/env bash
# Make a virtual environment from a list of pinned packages.
#
#     tools/environment.sh PYTHON FOLDER LIST
set -euo pipefail
python=$1 folder=$2 list=$3

if [ -L "$folder" ]; then
  echo "$folder is a link to another checkout's environment, whose pins differ." >&2
  echo "Remove the link $folder and run make again: this checkout then gets its own." >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "Python 3.11 or newer is required: make PYTHON=/path/to/python3.11" >&2
  exit 1
fi

echo "==> setting up $folder with $("$python" --version) (once)"
"$python" -m venv "$folder"
"$folder/bin/python" -m tools.install "$list"
