#!/usr/bin/env python3
"""Prints what ./dev test did, stage by stage, what failed, what was skipped and why; the last line counts everything.

usage: summary.py RESULTS.tsv; exits with 1 if anything failed
"""
import collections
import sys

STATUSES = ("pass", "fail", "skip")


def main():
    counts, seconds, failed = collections.OrderedDict(), {}, []
    skipped = collections.OrderedDict()
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            status, stage, name, reason = line.rstrip("\n").split("\t")
            count = counts.setdefault(stage, collections.Counter())
            if status == "time":
                seconds[stage] = int(name)
                continue
            count[status] += 1
            if status == "fail":
                failed.append(f"  {stage}: {name}" + (f": {reason}" if reason else ""))
            if status == "skip":
                skipped.setdefault((stage, reason), []).append(name)
    print("\nstage      passed  failed  skipped   time")
    for stage, count in counts.items():
        total = seconds.get(stage, 0)
        print(f"{stage:9} {count['pass']:7} {count['fail']:7} {count['skip']:8} {total // 60:3}:{total % 60:02} min")
    minutes, rest = divmod(sum(seconds.values()), 60)
    print(f"{'':34}{minutes:3}:{rest:02} min")
    if skipped:
        print("\nskipped:")
        for (stage, reason), names in skipped.items():
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            print(f"  {stage}: {shown}: {reason}")
    if failed:
        print("\nfailed:")
        print("\n".join(failed))
    total = collections.Counter()
    for count in counts.values():
        total.update(count)
    print(f"\n{total['pass']} passed, {total['fail']} failed, {total['skip']} skipped")
    return 1 if total["fail"] or not total["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())
