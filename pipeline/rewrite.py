"""Turn descriptions into captions: imprecise sentences without character names.

reads   datasets/work/moments.parquet
writes  datasets/work/captions.parquet

With `rewrite.backend: none` a caption is its description, for a corpus without names.
"""

import pandas as pd

from pipeline import stage, tables
from pipeline.params import load


def rewrite(moments: pd.DataFrame) -> pd.DataFrame:
    """Return one caption per moment, as described; nothing is checked, so no scores."""
    captions = moments[["moment_id"]].assign(
        caption=moments["description"],
        source="none",
        model=None,
        prompt=None,
        rounds=0,
        similarity=None,
        name_score=None,
        status="passed",
    )
    return tables.CAPTIONS.check(captions)


def main() -> None:
    """Write the captions."""
    params = load().rewrite
    captions = rewrite(tables.MOMENTS.read())
    tables.CAPTIONS.write(captions)
    stage.write_metrics("rewrite", {"captions": len(captions), "backend": params.backend})


if __name__ == "__main__":
    stage.run(main)
