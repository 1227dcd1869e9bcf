"""Pictures of trees, topics and shares as SVG."""
