"""What `push` makes of the plan: tasks in projects, and the ledger of pairs."""
