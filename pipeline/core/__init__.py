"""What every stage uses: command lines, parameters, tables, files."""
