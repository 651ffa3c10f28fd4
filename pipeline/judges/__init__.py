"""Machines that judge pairs beside people: what each says is a table of its own."""
