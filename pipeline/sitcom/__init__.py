"""The sample corpus's sitcom: its screenplay, who does what when, and how it is drawn.

`pipeline.sample` is the stage; nothing else in the pipeline knows of this package.
"""
