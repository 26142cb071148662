"""Everything a person sees in a terminal: reports and traces in, text out.

Renderers are pure functions of data and a `Theme`, so their output is tested as text. Only
`theme` knows colours, symbols and widths; only `progress` writes while a search runs.
"""
