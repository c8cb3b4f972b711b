"""Where the state of the cluster comes from: the Kubernetes API, or a file."""
