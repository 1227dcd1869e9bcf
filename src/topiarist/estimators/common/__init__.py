"""What all estimators share: options, progress, streams, counts in files."""
