"""Write public.qrels: a release's test queries and videos, and no judged pair."""

import sys
from pathlib import Path

import momentrank as mr
from momentrank.formats.write import qrels_text
from momentrank.segments import build_qrels

release = mr.load(sys.argv[1])
queries, videos = release["test"].judged.queries, list(release.videos)
rows = [(query, videos[0], 0, 1, 1) for query in queries]
rows += [(queries[0], video, 0, 1, 1) for video in videos[1:]]
Path("public.qrels").write_text(qrels_text(build_qrels(*zip(*rows, strict=True))), "utf-8")
