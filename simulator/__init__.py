"""What would have happened: replays of jobs through a cluster with boot times.

Empty so far. It must never reach a real cluster.
"""
