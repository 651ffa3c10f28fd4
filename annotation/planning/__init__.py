"""What `plan` is made of: what is known of each pair, the extension rule, and who is asked."""
