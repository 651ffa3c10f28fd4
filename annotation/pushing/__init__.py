"""What `push` is made of: what to change on the server, in which order, and the ledger."""
