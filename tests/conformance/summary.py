"""Counts checks, and lists what failed and what was refused: the closing line is `N passed, M failed`."""

import collections
import json
import sys

# A check that didn't run at all is a failure too.
EXPECTED = ("openai.js", "anthropic.js", "forms", "silent losses", "refusals", "distinct names", "tampered",
            "conversation", "recorded", "agent", "journal")


def main():
    passed, failed, refused = collections.Counter(), [], []
    for path in sys.argv[1:]:
        for line in open(path, encoding="utf-8"):
            entry = json.loads(line)
            if "refused" in entry:
                refused.append(entry["refused"])
            elif entry.get("problem"):
                failed.append(entry)
            else:
                passed[entry["check"]] += 1
    ran = passed.keys() | {entry["check"] for entry in failed}
    failed += [{"check": check, "of": "everything", "problem": "it did not run"} for check in EXPECTED if check not in ran]
    print(f"refused, each for its reason ({len(refused)}):")
    for line in refused:
        print(f"  {line}")
    for check in sorted(ran):
        print(f"{check}: {passed[check]} passed, {sum(entry['check'] == check for entry in failed)} failed")
    for entry in failed[:100]:
        print(f"FAILED {entry['check']}: {entry['of']}: {entry['problem']}")
    print(f"{sum(passed.values())} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
