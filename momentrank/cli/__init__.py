"""The command `momentrank`; one module per verb."""
