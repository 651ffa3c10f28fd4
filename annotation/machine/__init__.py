"""What `calibration` is made of: a machine's levels beside people's, and what they are worth."""
