"""Classes that are known, and the classes of new documents."""
