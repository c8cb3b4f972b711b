"""Where demand history comes from; one file per kind of source, all behind one protocol.

Only these files talk to the outside. A source turns every foreign error into ours, and says what
it could not see: it never fills a gap, and never returns half an answer as if it were whole.
"""

from features.sources.protocol import Source, SourceAnswer

__all__ = ["Source", "SourceAnswer"]
