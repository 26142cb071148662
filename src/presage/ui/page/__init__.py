"""The report page: one self-contained HTML file that shows a trace.

What is shown is worked out here, in Python, and tested as data; `page.js` only draws it.
"""
