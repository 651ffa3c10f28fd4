"""What the report shows: figures as tables, charts as SVG, and the two pages."""
