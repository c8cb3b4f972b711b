"""Everything a user can set, in one place: one YAML file, and the environment above it.

Values here are checked and explained, nothing more; wiring turns them into sources, calendars and
models. All problems are reported at once, a line each, and an unknown key is always one of them.
"""

from forecaster.settings.loading import load_settings
from forecaster.settings.model import Settings

__all__ = ["Settings", "load_settings"]
