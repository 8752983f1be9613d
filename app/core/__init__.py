"""The pure core: values and rules that decide what a model sees."""
