#!/usr/bin/env bash
# Make a virtual environment from a list of pinned packages.
#
#     tools/environment.sh PYTHON FOLDER LIST
set -euo pipefail
python=$1 folder=$2 list=$3

if [ -L "$folder" ]; then
  echo "$folder is a link to another checkout's environment, which has other pins." >&2
  echo "Remove the link $folder and run make again: it gives this checkout its own." >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11" >&2
  exit 1
fi

echo "==> setting up $folder with $("$python" --version): once, a few minutes"
"$python" -m venv "$folder"
pip=("$folder/bin/python" -m pip --disable-pip-version-check)
# Python brings a pip of its own age: 3.11's takes half as long again.
"${pip[@]}" install --quiet "$(grep '^pip==' requirements.lock)" 2> >(grep -v ^WARNING >&2)
# The list is complete, and Python compiles what is imported: half the time of a plain install.
# pip prints hundreds of lines. One for every 25 packages shows that it is still going.
"${pip[@]}" install --no-deps --no-compile -r "$list" \
  2> >(grep -v ^WARNING >&2) |
  awk -v folder="$folder" -v all="$(grep -c == "$list")" '
    /^Collecting/ && ++n % 25 == 0 { print "    " folder ": " n " of " all " packages" }
    /^Installing/ { print "    " folder ": installing them" }
    { fflush() }'
# On another platform than the list's, packages may need others.
"${pip[@]}" check >/dev/null || "${pip[@]}" install --quiet -r "$list"
