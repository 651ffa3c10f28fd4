"""From screenplay to plan: who does what, when and where on the stage. Nothing is drawn here.

The words are the theatre's: a *cue* is one thing that can happen now, *blocking* is where
people stand for it, a *take* is the plan of one whole video.
"""
