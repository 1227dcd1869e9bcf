"""One grow of a collection: a folder with the database and the parts that its states name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from topiarist.store.database import Database

DATABASE = "documents.sqlite"


@dataclass(frozen=True)
class Generation:
    """The folder of a generation, and its database: open for reading, or for writing under the lock."""

    folder: Path
    shown: str  # the collection, as the user typed it
    database: Database

    @classmethod
    def open(cls, folder: Path, shown: str, *, write: bool = False) -> Generation:
        """Nothing is read until it is asked for."""
        return cls(folder, shown, Database(folder / DATABASE, write=write, shown=f"{shown}/{folder.name}/{DATABASE}"))

    @classmethod
    def create(cls, folder: Path, shown: str) -> Generation:
        """One without documents."""
        shown_database = f"{shown}/{folder.name}/{DATABASE}"
        return cls(folder, shown, Database.create(folder / DATABASE, shown=shown_database))

    @property
    def writable(self) -> bool:
        """Whether it was opened for writing."""
        return self.database.write

    def close(self) -> None:
        """Close the database."""
        self.database.close()
