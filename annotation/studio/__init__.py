"""The port to Label Studio: its API in a few calls, and which of its projects are ours."""
