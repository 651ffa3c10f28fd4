"""Join captions and moments as `candidates` and `pseudo` do: a part of benchmarks.large_tables."""

from pipeline.core import captions
from pipeline.core.params import load


def main() -> None:
    """Print the number of moments that are searched."""
    params = load()
    pool = captions.read_pool(params.ingest.pool_modalities, params.engine.table_memory)
    print(f"{len(pool):,} moments")


if __name__ == "__main__":
    main()
