"""The web server: who may ask, which function answers which address, and what goes wrong in words."""
