"""Who takes part: their roles, days and accounts."""
