"""The people as a workforce: inviting them, listing them, their hours, and voiding their work."""
