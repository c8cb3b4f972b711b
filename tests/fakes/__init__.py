"""Public stand-ins for the outside world and for real clusters, shared by all tests."""
