"""Tables that are larger than memory: mapped arrays and DuckDB."""
