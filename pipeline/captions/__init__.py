"""From descriptions to captions: rewriters, repair, and people's decisions."""
