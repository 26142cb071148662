"""What Sphinx reads. Nothing on the built site comes from elsewhere: no fonts, no scripts."""

from presage.version import VERSION

project = "presage"
release = version = VERSION
root_doc = "index"
extensions = ["myst_parser"]
myst_heading_anchors = 4
smartquotes = False  # options begin with two hyphens
# Decisions are in a list, not in the menu; that every page is near the front is checked at the end.
suppress_warnings = ["toc.not_included"]

toc_object_entries_show_parents = "hide"
html_theme = "furo"
html_title = "presage"
html_copy_source = False
html_show_search_summary = False  # read from the pages, which a browser refuses from disk
html_show_sphinx = False
html_show_copyright = False
html_domain_indices = False
html_use_index = False
python_maximum_signature_line_length = 80
pygments_style = "friendly"
