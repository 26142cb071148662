"""The documentation as a site: `python -m docsite FOLDER`, which `make docs` runs.

sources     docs/ and the documents of the project, arranged as pages
names       the reference of public names, from signatures and docstrings
options     the reference of commands, from the parser of the command line
conf        what Sphinx reads
pages       the built site as it is: dead links, what is loaded from outside
"""
