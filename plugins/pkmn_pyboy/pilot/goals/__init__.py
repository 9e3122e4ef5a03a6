"""Goals of the pilot: the planner's tasks, healing, shopping, training, hunting, exploring."""
