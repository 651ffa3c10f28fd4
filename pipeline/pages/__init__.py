"""What `report` shows: figures, tables, charts, pages."""
