"""What `agreement` is made of: couples of scores, kappa, alpha, people's figures, the text."""
