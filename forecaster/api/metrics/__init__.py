"""`/metrics`: how the service is, and what it knows of each pool now.

What is not known is not there: no reading stands for it, and never a zero.
"""
