/** Draws the events of a simulated cluster's life, and their times. */
import type { Job } from '../../../src/apis/kubernetes/workloads.ts';
import type { FaultSettings, OfferingPattern } from '../../../src/cloud/simulated/account-settings.ts';
import type { Verb } from '../../../src/kube/testkit/faulty-client.ts';
import type { Random } from '../../../src/platform/random.ts';
import { REFUSAL_CODES, type Refusal } from '../refusing-client.ts';
import { TYPE_NAMES, ZONES } from './account.ts';
import { chance, maybe, some } from './chance.ts';
import { drawPoolEdit } from './pools.ts';
import { drawStatefulSet, type StatefulWorkload } from './stateful-sets.ts';
import { drawJob, drawWorkload, type Workload } from './workloads.ts';

/** `which` chooses among the objects that exist when the event happens. */
export type Deed =
  | { readonly what: 'scale'; readonly which: number; readonly replicas: number }
  | { readonly what: 'new workload'; readonly workload: Workload }
  | { readonly what: 'delete workload'; readonly which: number }
  | { readonly what: 'new stateful set'; readonly workload: StatefulWorkload }
  | { readonly what: 'scale stateful set'; readonly which: number; readonly replicas: number }
  | { readonly what: 'roll out stateful set'; readonly which: number }
  | { readonly what: 'new job'; readonly job: Job }
  | { readonly what: 'interrupt'; readonly which: number; readonly machines: number; readonly noticeMs: number }
  | { readonly what: 'rebalance'; readonly which: number; readonly times: number }
  | { readonly what: 'maintenance'; readonly which: number; readonly inMs: number }
  | { readonly what: 'exhaust'; readonly pattern: OfferingPattern; readonly forMs: number }
  | { readonly what: 'price'; readonly pattern: OfferingPattern; readonly factor: number }
  | { readonly what: 'roll out'; readonly which: number }
  | { readonly what: 'edit template'; readonly which: number }
  | { readonly what: 'edit pool'; readonly which: number; readonly spec: object }
  | { readonly what: 'delete pool'; readonly which: number }
  | { readonly what: 'cordon' | 'protect'; readonly which: number; readonly forMs: number }
  | { readonly what: 'silence'; readonly which: number; readonly forMs: number }
  | { readonly what: 'broken hardware'; readonly which: number }
  | { readonly what: 'delete claim' | 'delete node'; readonly which: number }
  | { readonly what: 'api trouble'; readonly share: number; readonly forMs: number }
  | { readonly what: 'refusals'; readonly refusal: Refusal; readonly forMs: number }
  | { readonly what: 'cut watches' }
  | { readonly what: 'cloud trouble'; readonly faults: Partial<FaultSettings>; readonly forMs: number }
  | { readonly what: 'scale pool'; readonly replicas: number }
  | { readonly what: 'resize buffer'; readonly name: string; readonly replicas: number }
  | { readonly what: 'kill'; readonly downMs: number };

/** An event, this long after the previous one. */
export type Happening = Deed & { readonly afterMs: number };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Mean number of events per hour. */
const PER_HOUR = 20;
const WAVES = 12;

type Draw = (random: Random, name: string, pools: readonly string[]) => Deed;

const DRAWS: readonly (readonly [weight: number, draw: Draw])[] = [
  [6, (random) => ({ what: 'scale', which: which(random), replicas: random.below(11) })],
  [2, (random, name, pools) => ({ what: 'new workload', workload: drawWorkload(random, name, pools) })],
  [1, (random) => ({ what: 'delete workload', which: which(random) })],
  [0.5, (random, name) => ({ what: 'new stateful set', workload: drawStatefulSet(random, name) })],
  [2, (random) => ({ what: 'scale stateful set', which: which(random), replicas: random.below(6) })],
  [0.5, (random) => ({ what: 'roll out stateful set', which: which(random) })],
  [2, (random, name) => ({ what: 'new job', job: drawJob(random, name) })],
  [4, drawInterruption],
  [1, (random) => ({ what: 'rebalance', which: which(random), times: 1 + random.below(3) })],
  [1, (random) => ({ what: 'maintenance', which: which(random), inMs: minutes(random, 60) })],
  [
    2,
    (random) => ({
      what: 'exhaust',
      pattern: drawPattern(random),
      forMs: minutes(random, 40),
    }),
  ],
  [2, (random) => ({ what: 'price', pattern: drawPattern(random), factor: random.between(0.5, 2) })],
  [2, (random) => ({ what: 'roll out', which: which(random) })],
  [2, (random) => ({ what: 'edit template', which: which(random) })],
  [2, (random) => ({ what: 'edit pool', which: which(random), spec: drawPoolEdit(random) })],
  [0.5, (random) => ({ what: 'delete pool', which: which(random) })],
  [1, (random) => ({ what: random.pick(['cordon', 'protect']), which: which(random), forMs: minutes(random, 60) })],
  [1, (random) => ({ what: 'silence', which: which(random), forMs: minutes(random, 180) })],
  [1, (random) => ({ what: 'broken hardware', which: which(random) })],
  [2, (random) => ({ what: random.pick(['delete claim', 'delete node']), which: which(random) })],
  [
    2,
    (random) => ({
      what: 'api trouble',
      share: random.pick([0.02, 0.1, 0.3]),
      forMs: minutes(random, 10),
    }),
  ],
  [2, (random) => ({ what: 'refusals', refusal: drawRefusal(random), forMs: minutes(random, 10) })],
  [1, () => ({ what: 'cut watches' })],
  [2, drawCloudTrouble],
  [3, (random) => ({ what: 'kill', downMs: random.pick([0, 0, 500, 20_000, 180_000]) })],
];

export function drawHappenings(random: Random, hours: number, pools: readonly string[]): readonly Happening[] {
  const bag = DRAWS.flatMap(([weight, draw]) => Array.from({ length: 2 * weight }, () => draw));
  const happenings: Happening[] = [];
  for (let at = 0, index = 0; ; index++) {
    const each = random.split(`${index}`);
    // Some events follow closely on another, as real incidents do.
    const afterMs = Math.round(
      chance(each, 0.35) ? each.between(0, 10_000) : (-Math.log(1 - each.next()) * HOUR * 1.5) / PER_HOUR,
    );
    at += afterMs;
    if (at > hours * HOUR) return happenings;
    happenings.push({ ...each.pick(bag)(each, `late-${index}`, pools), afterMs });
  }
}

/** Load that rises and falls in waves, each before the machines of the last one are up. */
export function drawWaves(random: Random): readonly Happening[] {
  return Array.from({ length: WAVES }, () => ({
    what: 'scale',
    which: which(random),
    replicas: random.below(15),
    afterMs: 1000 + random.below(8000),
  }));
}

function which(random: Random): number {
  return random.below(1000);
}

function minutes(random: Random, most: number): number {
  return (1 + random.below(most)) * MINUTE;
}

function drawInterruption(random: Random): Deed {
  const machines = random.pick([1, 1, 1, 2, 4]);
  return { what: 'interrupt', which: which(random), machines, noticeMs: random.pick([120_000, 30_000, 0]) };
}

function drawPattern(random: Random): OfferingPattern {
  return {
    ...maybe(random, 0.6, () => ({ instanceType: random.pick(TYPE_NAMES) })),
    ...maybe(random, 0.5, () => ({ zone: random.pick(ZONES) })),
    ...maybe(random, 0.8, () => ({ capacityType: random.pick(['spot', 'spot', 'on-demand'] as const) })),
  };
}

function drawRefusal(random: Random): Refusal {
  const code = random.pick(REFUSAL_CODES);
  // A create cannot conflict with anything.
  const verbs: readonly Verb[] = ['patch', 'delete', 'evict', 'bind', ...(code === 409 ? [] : (['create'] as const))];
  return {
    code,
    verbs: some(random, verbs),
    ...maybe(random, 0.6, () => ({ kind: random.pick(['nodeclaims', 'nodes', 'pods']) })),
    share: random.pick([0.3, 1]),
  };
}

function drawCloudTrouble(random: Random): Deed {
  const faults = random.pick<Partial<FaultSettings>>([
    { requestsPerSecond: 1 },
    { errorRate: 0.3 },
    { hangRate: 0.3 },
    { denied: true },
    { consistencyDelayMs: 8000 },
    { launchFailureRate: 0.5 },
    { registrationFailureRate: 0.3 },
    { latencyMs: 5000 },
    { quota: 3 },
  ]);
  return { what: 'cloud trouble', faults, forMs: minutes(random, 20) };
}
