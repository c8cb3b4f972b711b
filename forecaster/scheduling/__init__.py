"""What runs when: schedules, the jobs of the service, and the scheduler that runs them.

Which runs are due is worked out from values alone; the state is in the database, so that a restart
loses and repeats nothing. No job can stop another one.
"""
