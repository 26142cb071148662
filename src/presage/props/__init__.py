"""What must be true: properties over worlds, and the histories that consistency is judged by.

Everything here is a pure function of what it is given, so a verdict may be remembered under the
values it was computed from. Above `model`, below `trace` and `search`.
"""
