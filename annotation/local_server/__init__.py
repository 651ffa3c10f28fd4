"""The Label Studio of this folder: its process, its port, its log."""
