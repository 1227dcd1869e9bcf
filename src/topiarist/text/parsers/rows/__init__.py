"""Tables that are parsed in a worker: their rows come in parts."""
