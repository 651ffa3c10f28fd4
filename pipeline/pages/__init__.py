"""What `report` shows: figures, tables, charts and pages."""
