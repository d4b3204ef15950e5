"""What the judges of an SDK's types share."""
import pydantic


def unknown_members(value, extra, path=""):
    """All members that no model has, with their places; `extra` has those that are allowed, by the name of the model."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from unknown_members(each, extra, f"{path}[{index}]")
    if not isinstance(value, pydantic.BaseModel):
        return
    allowed = extra.get(type(value).__name__, set())
    for name in value.model_extra or {}:
        if name not in allowed:
            yield f"{path}.{name} of {type(value).__name__}"
    for name in type(value).model_fields:
        yield from unknown_members(getattr(value, name), extra, f"{path}.{name}")
