"""Ways to ask for nodes, one file each: the only part of the actuator that changes the world."""
