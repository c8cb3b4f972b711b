"""The service: scheduled jobs, the cycle, the API and the page, in one process."""
