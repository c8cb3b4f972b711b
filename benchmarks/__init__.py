"""How fast Tidecast is, as ratios measured in one run; run all with `make bench`.

A benchmark prints what it measured and never fails for being slow: machines differ, ratios less.
"""
