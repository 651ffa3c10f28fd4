"""What `push` makes from the plan: tasks in projects, and the ledger of pairs."""
