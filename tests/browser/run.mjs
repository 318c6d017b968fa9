// Runs every test, one after the other, and ends with 1 where one fails.
import * as audit from "./audit.mjs";
import * as ballots from "./ballots.mjs";
import * as review from "./review.mjs";

let failed = 0;
const only = process.argv[2];
for (const [name, test] of Object.entries({ ...audit, ...ballots, ...review })) {
  if (only && !name.includes(only)) continue;
  const began = Date.now();
  try {
    await test();
    console.log(`browser ${name} ... ok (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`browser ${name} ... FAILED\n${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
