/**
 * Lives simulated lives of whole clusters and says which invariants they broke:
 * `npm run simulate -- --seeds 1..500 [--hours 4] [--twice] [--keep-going] [--story]`
 * A seed is all there is to a life: `--seeds 17` lives it again. With `--twice` each is lived twice, and both must be the same;
 * with `--story` all that happens is printed.
 */
import { parseArgs } from 'node:util';
import { type Life, live } from '../test/simulation/live.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1..20' },
    hours: { type: 'string', default: '4' },
    twice: { type: 'boolean', default: false },
    story: { type: 'boolean', default: false },
    'keep-going': { type: 'boolean', default: false },
  },
});
const hours = Number(values.hours);
if (!(hours > 0)) throw new Error(`--hours is a number of virtual hours, not ${values.hours}`);

const failures: Life[] = [];
for (const seed of seedsOf(values.seeds)) {
  const before = process.cpuUsage();
  const life = await live(seed, hours, values.story ? console.log : undefined);
  const again = values.twice ? await live(seed, hours) : life;
  const same = life.digest === again.digest;
  const broken = same ? life.broken : [...life.broken, `another life of the seed came out as ${again.digest}`];
  const { user, system } = process.cpuUsage(before);
  console.log(
    `seed ${seed}: ${broken.length === 0 ? 'holds' : 'BROKEN'}, ${life.digest}, ${((user + system) / 1e6).toFixed(1)} s of CPU`,
  );
  if (broken.length === 0) continue;
  failures.push({ ...life, broken });
  if (!values.story) console.log(life.tail.join('\n'));
  for (const sentence of broken) console.log(`  broken: ${sentence}`);
  console.log(`  again: npm run simulate -- --seeds ${seed} --hours ${hours}`);
  if (!values['keep-going']) break;
}
for (const { seed, broken } of failures) console.log(`seed ${seed}: ${broken[0]}`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** `7`, `1..20`, `1..5,17`. */
function seedsOf(text: string): string[] {
  return text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('..').map(Number);
    if (!Number.isInteger(first) || !Number.isInteger(last)) throw new Error(`--seeds is like 1..20, not ${text}`);
    return Array.from({ length: last - first + 1 }, (_, index) => `${first + index}`);
  });
}
