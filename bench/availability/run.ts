/**
 * What a service of eight replicas costs and how often all of them serve, on drawn spot traces of four weeks: on demand alone, flavors in
 * strict order, flavors on spot first, and the rule for ready replicas. `node bench/availability/run.ts [SEEDS]`; writes
 * bench/plots/availability.svg.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineTypes, reservedOf, spotPrice, usableMemoryMib } from '../../src/cloud/simulated/catalogue.ts';
import type { InstanceType } from '../../src/engine/problem.ts';
import { spotPoolKey } from '../../src/engine/spot/spot-pool.ts';
import { seededRandom } from '../../src/platform/random.ts';
import type { PodFlavor } from '../../src/state/model-flavors.ts';
import { availabilityPlot } from '../report/availability-plot.ts';
import { type Policy, type SimulationResult, simulateService } from './service-simulation.ts';
import { availabilityOf, drawTrace, type Scarcity, type SpotTrace } from './spot-traces.ts';

const SEEDS = Number(process.argv[2] ?? 5);
const READY = 8;
const MINUTES = 28 * 24 * 60;
const ZONES = ['sim-1a', 'sim-1b', 'sim-1c'];
const GPU = 'spindrift.dev/instance-gpu-name';
/** The better the GPU, the scarcer it is; the first is about as scarce as the V100s of the public traces. */
const FLAVORS: readonly { readonly gpu: string; readonly type: string; readonly scarcity: Scarcity }[] = [
  { gpu: 'l4', type: 'g6.xlarge', scarcity: { plentyHours: 24, churnHours: 8, outageHours: 24 } },
  { gpu: 'a10g', type: 'g5.xlarge', scarcity: { plentyHours: 36, churnHours: 6, outageHours: 12 } },
  { gpu: 't4', type: 'g4dn.xlarge', scarcity: { plentyHours: 72, churnHours: 4, outageHours: 6 } },
];
const POLICIES: readonly { readonly name: string; readonly policy: Policy }[] = [
  { name: 'on demand only', policy: { kind: 'on-demand' } },
  { name: 'strict order', policy: { kind: 'flavors', ranking: { order: 'Strict' } } },
  { name: 'ranked: spot first', policy: { kind: 'flavors', ranking: { order: 'SpotFirst' } } },
  { name: 'kept ready, strict order', policy: { kind: 'rule', extra: 2, ranking: { order: 'Strict' } } },
  { name: 'kept ready, by price', policy: { kind: 'rule', extra: 2, ranking: { order: 'Price' } } },
];

const flavors: readonly PodFlavor[] = FLAVORS.map(({ gpu }) => ({
  name: gpu,
  alternatives: [[{ key: GPU, operator: 'In', values: [gpu] }]],
}));
const types: readonly InstanceType[] = FLAVORS.map(({ gpu, type }) => {
  const machine = machineTypes().find(({ name }) => name === type);
  if (machine === undefined) throw new Error(`the catalogue has no ${type}`);
  const { milliCpu, memoryMib } = reservedOf(machine);
  return {
    name: type,
    labels: { [GPU]: gpu },
    capacity: {
      cpu: machine.vcpus * 1000,
      memory: usableMemoryMib(machine) * 1024 ** 2,
      pods: machine.pods,
      'nvidia.com/gpu': 1,
    },
    overhead: { cpu: milliCpu, memory: memoryMib * 1024 ** 2 },
    offerings: ZONES.flatMap((zone) => [
      { zone, capacityType: 'on-demand' as const, price: machine.usdPerHour },
      { zone, capacityType: 'spot' as const, price: spotPrice(machine, zone) },
    ]),
  };
});

const results = new Map<string, SimulationResult[]>(POLICIES.map(({ name }) => [name, []]));
const seen = new Map<string, number[]>();
for (let seed = 0; seed < SEEDS; seed++) {
  const random = seededRandom(`availability/${seed}`);
  const traces = new Map<string, SpotTrace>();
  for (const { type, scarcity } of FLAVORS) {
    for (const zone of ZONES) {
      const pool = spotPoolKey({ instanceType: type, zone });
      const trace = drawTrace(MINUTES + 10, scarcity, random.split(pool));
      traces.set(pool, trace);
      seen.set(type, [...(seen.get(type) ?? []), availabilityOf(trace)]);
    }
  }
  for (const { name, policy } of POLICIES)
    results.get(name)?.push(simulateService({ policy, ready: READY, flavors, types, traces, minutes: MINUTES }));
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (value: number, digits = 1): string => `${(100 * value).toFixed(digits)} %`;
for (const [type, values] of seen) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  process.stdout.write(
    `${type}: spot in one zone ${percent(mean(values), 0)} of the time (${percent(least, 0)} to ${percent(most, 0)})\n`,
  );
}
const paid = (name: string): number => mean((results.get(name) ?? []).map(({ cost }) => cost));
const whole = paid('on demand only');
const rows = POLICIES.map(({ name }) => {
  const all = results.get(name) ?? [];
  const of = (figure: (result: SimulationResult) => number): number => mean(all.map(figure));
  return {
    name,
    cost: paid(name) / whole,
    least: Math.min(...all.map(({ cost }) => cost)) / whole,
    most: Math.max(...all.map(({ cost }) => cost)) / whole,
    allReady: of(({ allReady }) => allReady),
    allButOneReady: of(({ allButOneReady }) => allButOneReady),
    serving: of(({ serving }) => serving),
    interruptions: of(({ interruptions }) => interruptions),
    hours: all[0]?.hours ?? [],
  };
});
process.stdout.write(
  '\n| policy | cost of on demand | saved | 8 of 8 ready | at least 7 ready | serving | interruptions |\n',
);
process.stdout.write('|---|--:|--:|--:|--:|--:|--:|\n');
for (const row of rows) {
  const range = `${percent(row.cost, 0)} (${percent(row.least, 0)} to ${percent(row.most, 0)})`;
  const ready = `${percent(row.allReady, 2)} | ${percent(row.allButOneReady, 2)} | ${percent(row.serving, 2)}`;
  process.stdout.write(
    `| ${row.name} | ${range} | ${percent(1 - row.cost, 0)} | ${ready} | ${row.interruptions.toFixed(0)} |\n`,
  );
}
const plot = availabilityPlot({ rows, ready: READY, days: MINUTES / 1440, seeds: SEEDS });
writeFileSync(join(import.meta.dirname, '..', 'plots', 'availability.svg'), plot);
