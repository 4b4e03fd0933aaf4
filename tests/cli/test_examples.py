"""Every example of examples/ runs as it stands, made shorter from the command line."""

import json
import os
import re
import tomllib
import unittest

from support import SOURCE, CommandTest, read

FOLDER = os.path.join(SOURCE, "examples")


class Examples(CommandTest):
    def test_each_runs(self):
        names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".toml"))
        self.assertGreaterEqual(len(names), 8)
        numbers = {int(name[:2]) for name in os.listdir(FOLDER) if re.match(r"\d\d_", name)}
        self.assertEqual(numbers, set(range(1, len(numbers) + 1)), "examples are numbered without gaps")
        for name in names:
            with self.subTest(example=name):
                self.assertRegex(name, r"^\d\d_")
                path = os.path.join(FOLDER, name)
                text = read(path).decode()
                self.assertTrue(text.startswith("# "), "an example opens with what it is")
                case = tomllib.loads(text)
                self.assertRegex(case["name"], r"^[a-z][a-z-]*$")
                step = case["time"]["step"]
                options = ["--set", f"time.end={4 * step!r}"]
                if "n" in case["initial"]:
                    options += ["--set", "initial.n=500"]
                self.succeed("run", path, *options, "--quiet")
                summary = json.loads(read(case["name"] + "/summary.json"))
                self.assertTrue(summary["finished"])
                self.assertLess(abs(summary["relative_energy_error"]), 1e-2, "four steps went wild")
                self.assertTrue(any(file.endswith(".png") for file in os.listdir(case["name"])))
                if case.get("force", {}).get("reinitialise"):
                    self.assertEqual(summary["reinitialisations"]["count"], 1)
                    self.assertLessEqual(summary["reinitialisations"]["largest_residual"], 1e-6)
                if "tolerance" in case.get("force", {}):
                    errors = summary["force"]["largest_relative_errors"].values()
                    self.assertTrue(all(0.0 < error <= case["force"]["tolerance"] for error in errors), errors)

    def test_the_readme_names_examples_that_exist(self):
        readme = os.path.join(SOURCE, "README.md")
        if not os.path.exists(readme):
            self.skipTest("there is no README.md")
        for name in re.findall(r"examples/[\w.]+", read(readme).decode()):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, name)), name)


if __name__ == "__main__":
    unittest.main()
