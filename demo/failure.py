"""What ends the demo."""


class DemoFailed(Exception):
    """Something did not go as it should; the text is a sentence for people."""
