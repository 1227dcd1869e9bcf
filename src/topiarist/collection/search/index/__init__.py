"""The index by meaning: documents like a query or a document, with reasons. See docs/models/fisher.md"""

from __future__ import annotations

from topiarist.collection.search.index.search_index import SearchIndex
from topiarist.collection.search.index.topics import Branch, Step
from topiarist.collection.search.results import Explanation, TopicReason, WordReason

__all__ = ["Branch", "Explanation", "SearchIndex", "Step", "TopicReason", "WordReason"]
