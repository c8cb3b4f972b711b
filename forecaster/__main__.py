"""`python -m forecaster` is the `tidecast` command, where the command itself is not installed."""

from forecaster.cli import main

main()
