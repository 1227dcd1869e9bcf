"""Grow: from documents to a collection on disk, in phases that can be taken up again."""
