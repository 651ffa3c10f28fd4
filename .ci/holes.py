"""Tell what a report of pip-audit says of a lock: `holes.py requirements.lock REPORT`."""

import json
import sys
from pathlib import Path

lock, report = sys.argv[1:]
try:
    packages = json.loads(Path(report).read_text(encoding="utf-8"))["dependencies"]
except (OSError, ValueError, KeyError):
    packages = []
known = [one for one in packages if "vulns" in one]
if not known:
    sys.exit(f"pip-audit: skipped for {lock}: no package could be looked up from here")
sys.stdout.write(f"pip-audit: {lock}: {len(known)} of {len(packages)} packages looked up\n")
for one in known:
    for hole in one["vulns"]:
        fixed = ", ".join(hole["fix_versions"]) or "no version"
        sys.stdout.write(f"  {one['name']} {one['version']}: {hole['id']}, fixed in {fixed}\n")
