"""A machine judge on the pages: its section of the report, and second looks for the lead."""
