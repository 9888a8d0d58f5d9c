/**
 * Writes the built-in catalogue of AWS from the descriptions of instance types that moto keeps, which are EC2's own: shapes, and
 * in which zones of which regions they are sold. `on-demand-prices.json` beside it is kept by hand, with its date.
 *
 *   node scripts/aws-catalogue.ts DIRECTORY-OF-moto/ec2/resources
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import prices from '../src/cloud/aws/built-in/on-demand-prices.json' with { type: 'json' };
import { shapeOf } from '../src/cloud/aws/catalogue/shape.ts';

const [resources = ''] = process.argv.slice(2);
const target = join(import.meta.dirname, '../src/cloud/aws/built-in');

const families: Readonly<Record<string, object>> = prices.usdPerHourInUsEast1;

function isPriced(name: string): boolean {
  const [family = '', size = ''] = name.split('.');
  return size in (families[family] ?? {});
}

function read(path: string): unknown {
  const bytes = readFileSync(path);
  return JSON.parse((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString());
}

const infos = read(join(resources, 'instance_types.json.gz')) as Record<string, object>;
const shapes = Object.values(infos)
  .flatMap((info) => shapeOf(info as never) ?? [])
  .filter(({ name }) => isPriced(name))
  .sort((a, b) => (a.name < b.name ? -1 : 1));
writeFileSync(join(target, 'shapes.json'), `[\n${shapes.map((shape) => JSON.stringify(shape)).join(',\n')}\n]\n`);

const folder = join(resources, 'instance_type_offerings', 'availability-zone');
const regions: Record<string, Record<string, string>> = {};
for (const file of readdirSync(folder)) {
  const region = file.replace(/\.json(\.gz)?$/, '');
  if (!(region in prices.usdPerHourOfM5Large)) continue;
  const offerings = read(join(folder, file)) as { InstanceType: string; Location: string }[];
  const letters: Record<string, string[]> = {};
  for (const { InstanceType, Location } of offerings) {
    if (!isPriced(InstanceType)) continue;
    letters[InstanceType] = [...(letters[InstanceType] ?? []), Location.slice(region.length)];
  }
  // Types are listed by the zones they are sold in, which few sets of letters name.
  const byZones: Record<string, string> = {};
  for (const [type, zones] of Object.entries(letters).sort()) {
    const key = zones.sort().join('');
    byZones[key] = byZones[key] === undefined ? type : `${byZones[key]} ${type}`;
  }
  regions[region] = byZones;
}
writeFileSync(join(target, 'zones.json'), `${JSON.stringify(regions, undefined, 1)}\n`);
console.log(`${shapes.length} shapes, ${Object.keys(regions).length} regions`);
