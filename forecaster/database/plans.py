"""The newest plan, for whoever reads it: API, page and metrics. Older ones are in the audit."""

from pydantic import ValidationError

from forecaster.database.cycle_memory import NEVER_WRITTEN, CycleMemory, Overtaken
from forecaster.database.database import Database
from forecaster.json_shapes import PlanAnswer

NAME = "plan"


class Plans:
    """The newest plan alone."""

    def __init__(self, database: Database) -> None:
        self._memory = CycleMemory(database)

    def keep(self, plan: PlanAnswer) -> None:
        """Put a plan in the place of the one before; a newer one of another process stays."""
        found = self._memory.read(NAME)
        version = NEVER_WRITTEN if found is None else found.version
        try:
            self._memory.write(NAME, plan.model_dump(mode="json"), version)
        except Overtaken:
            return

    def newest(self) -> PlanAnswer | None:
        """The newest plan; None before the first, or where another Tidecast wrote it."""
        found = self._memory.read(NAME)
        if found is None:
            return None
        try:
            return PlanAnswer.model_validate(found.document)
        except ValidationError:
            return None
