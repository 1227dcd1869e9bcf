"""Classes that are known: words handed down their paths, and the classes of new documents."""
