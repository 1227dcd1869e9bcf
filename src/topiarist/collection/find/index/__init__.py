"""The index by meaning: documents like a query or a document, with reasons. See docs/models/fisher.md"""

from __future__ import annotations

from topiarist.collection.find.index.answers import Answer, Branch, Explanation, Hit, Step, TopicReason, WordReason
from topiarist.collection.find.index.search_index import SearchIndex

__all__ = ["Answer", "Branch", "Explanation", "Hit", "SearchIndex", "Step", "TopicReason", "WordReason"]
