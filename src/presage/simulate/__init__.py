"""Simulation: the program that is checked, run once on a platform, in virtual time.

units       quantities as people write them
platform    hosts, links, routes, and which process runs where
read        a platform out of a TOML file
sharing     who gets how much of what several use at once
fluid       work that proceeds at rates
clock       virtual time
transfers   messages under way
actor       one process
stage       the processes, and the steps they take
engine      the world of the checker, with a clock
result      what came out
run         the function that does it all
"""
