"""``python -m topiarist`` is ``topiarist``."""

from topiarist.app.cli import main

main()
