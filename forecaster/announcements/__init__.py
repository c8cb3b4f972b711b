"""What people say will come: floods of demand, once or again and again.

Values and rules only; where announcements are kept is the database's, how they arrive the API's.
"""
