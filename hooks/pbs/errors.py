"""Exceptions that hook scripts can catch. Each derives from the exception of Python that fits, as those of PBS do."""


class UnsetAttributeNameError(AttributeError):
    """The object has no attribute of that name."""


class BadAttributeValueTypeError(TypeError):
    """A value of that Python type cannot be a value of the attribute."""


class BadAttributeValueError(ValueError):
    """The value is not one of the attribute, or the attribute is read-only here."""


class UnsetResourceNameError(KeyError):
    """There is no resource of that name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class BadResourceValueTypeError(TypeError):
    """A value of that Python type cannot be a value of the resource."""


class BadResourceValueError(ValueError):
    """The text is not a value of the resource."""


class EventIncompatibleError(AttributeError):
    """The event has no such member."""
