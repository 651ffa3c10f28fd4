"""What `audit` is made of: whom to draw, what it comes to, and systems' own results."""
