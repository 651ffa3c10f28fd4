"""The parts of `agreement`: couples of scores, kappa, alpha, people's figures, the text."""
