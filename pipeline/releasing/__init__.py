"""What the stage `release` is made of: what is gathered, refused, and written in which form."""
