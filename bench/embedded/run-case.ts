/** One case of the embedded cluster's benchmark; its figures as JSON on standard output. */
import { CASES } from './cases.ts';

const run = CASES[process.argv[2] ?? ''];
if (run === undefined) throw new Error(`${process.argv[2]} is not a case; there are ${Object.keys(CASES).join(', ')}`);
process.stdout.write(JSON.stringify(await run()));
process.exit(0);
