"""From plan to picture: a step of a video and a time in it become one frame.

Pure: the same step, time and size give the same pixels. Coordinates are stage units
(320 wide, y down); only `brush` knows pixels.
"""
