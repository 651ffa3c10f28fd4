"""`python -m momentrank`: the command, where no script of its name is on the path."""

from momentrank.cli.main import command

if __name__ == "__main__":
    command()
