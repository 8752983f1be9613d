"""The model catalogue: what is published of models, and which name means which of them."""
