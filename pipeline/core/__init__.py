"""What every stage stands on: commands, parameters, tables, files."""
