"""Managing people: inviting them, listing them, their hours, and voiding their work."""
