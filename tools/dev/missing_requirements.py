#!/usr/bin/env python3
"""Prints the requirements of pyproject.toml (to build, to run, extras "test" and "wheel") that this Python lacks, one a line.

usage: missing_requirements.py pyproject.toml
"""
import importlib.metadata
import sys
import tomllib

from pip._vendor.packaging.requirements import Requirement


def is_met(text):
    requirement = Requirement(text)
    if requirement.marker and not requirement.marker.evaluate():
        return True
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)


def main():
    with open(sys.argv[1], "rb") as file:
        settings = tomllib.load(file)
    project = settings.get("project", {})
    wanted = settings.get("build-system", {}).get("requires", []) + project.get("dependencies", [])
    extras = project.get("optional-dependencies", {})
    wanted += extras.get("test", []) + extras.get("wheel", [])
    for text in wanted:
        if not is_met(text):
            print(text)


if __name__ == "__main__":
    main()
