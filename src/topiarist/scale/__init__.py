"""Where work runs: threads over pieces, executors over blocks. Knows addition, not models."""
