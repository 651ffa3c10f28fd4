"""Who is asked what: the parts of `plan`."""
