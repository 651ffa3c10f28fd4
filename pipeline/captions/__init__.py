"""From descriptions to captions: rewriters, checks, repair, and people's decisions."""
