"""Clips out of videos: `cutter` is ffmpeg, `timeline` what a video holds, `shelf` the folder."""
