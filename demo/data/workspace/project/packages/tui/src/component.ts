// A component turns its state into lines of one width.
