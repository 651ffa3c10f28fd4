"""What every stage uses: command lines, parameters, files, progress."""
