"""The parts of `calibration`: a machine's levels compared with people's, and their value."""
