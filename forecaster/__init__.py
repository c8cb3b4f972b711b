"""The service: what runs when, and for whom.

Settings, wiring, the history store, reports and the command line live here, and so does every
clock. Nothing below may import this package.
"""
