"""Version of the package, its only definition."""

__version__ = "0.3.0"
