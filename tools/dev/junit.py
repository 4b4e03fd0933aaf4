#!/usr/bin/env python3
"""Turns a JUnit report of ctest or pytest into lines "status, stage, name, reason" for ./dev test.

usage: junit.py STAGE REPORT.xml
"""
import re
import sys
import xml.etree.ElementTree as ET


def skip_reason(case, skipped):
    """pytest gives a message; of GoogleTest's output it is the line after the one that names the place."""
    message = skipped.get("message", "")
    output = case.findtext("system-out") or ""
    match = re.search(r": Skipped\n(.+)", output)
    if match:
        return match[1]
    if message and "SKIP_REG" not in message and "SKIP_RETURN" not in message:
        return message
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else message or "no reason given"


def main():
    stage, report = sys.argv[1:]
    try:
        root = ET.parse(report).getroot()
    except (OSError, ET.ParseError) as error:
        print("fail", stage, "test report", f"no readable report: {error}", sep="\t")
        return
    cases = list(root.iter("testcase"))
    if not cases:
        print("fail", stage, "test report", "no tests were found", sep="\t")
    for case in cases:
        name = case.get("name", "?")
        if case.get("classname") and stage == "python":
            name = f"{case.get('classname')}::{name}"
        skipped, failure = case.find("skipped"), case.find("failure")
        if failure is None:
            failure = case.find("error")
        if failure is not None or case.get("status") == "fail":
            status, reason = "fail", failure.get("message", "") if failure is not None else ""
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            status, reason = "skip", skip_reason(case, skipped if skipped is not None else case)
        else:
            status, reason = "pass", ""
        print(status, stage, name, re.sub(r"\s+", " ", reason)[:200], sep="\t")


if __name__ == "__main__":
    main()
