// Runs every test, one after the other, and ends with 1 where one fails.
import * as audit from "./audit.mjs";
import * as ballots from "./ballots.mjs";
import * as days from "./days.mjs";
import * as pictures from "./pictures.mjs";
import * as review from "./review.mjs";
import * as site from "./site.mjs";

let failed = 0;
const only = process.argv[2];
for (const [name, test] of Object.entries({ ...audit, ...ballots, ...days, ...pictures, ...review, ...site })) {
  if (only && !name.includes(only)) continue;
  const began = Date.now();
  try {
    const skipped = await test();
    if (skipped) console.log(`browser ${name} ... skipped: ${skipped}`);
    else console.log(`browser ${name} ... ok (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`browser ${name} ... FAILED\n${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
