"""What each command does, from the store to an answer, one file each.

A task takes a workspace and plain arguments and returns the shape that is printed. It must never
print, and never decide what a model or a source should.
"""
