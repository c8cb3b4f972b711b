"""How the champion does beside the libraries that people would otherwise use, on real traces.

The peers are never crippled: each forecasts with its own prediction intervals, refitted as its
users would, and where it has no word for the peak of a window the better of two readings counts.
Nothing outside this package may import them; run it with `make bench-peers`.
"""
