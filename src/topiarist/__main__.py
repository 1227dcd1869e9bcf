"""Entry point of ``python -m topiarist``, equal to the command ``topiarist``."""

from topiarist.cli import main

main()
