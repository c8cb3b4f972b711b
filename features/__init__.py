"""From metric history to features: demand series, baselines, slopes, calendar, known events.

Everything here is pure except `features.sources`, which alone talks to the outside. Nothing in
this package may look past an origin, and nothing may turn a missing sample into a zero.
"""
