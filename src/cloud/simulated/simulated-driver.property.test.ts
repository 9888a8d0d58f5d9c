import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import { hasCode } from '../../platform/errors.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { Launchers } from '../launchers.ts';
import { openedClouds } from '../testkit/opened-clouds.ts';
import { NO_FAULTS, STILL_MARKET } from './account-settings.ts';
import { SimulatedCloud } from './simulated-cloud.ts';
import { SimulatedDriver } from './simulated-driver.ts';
import { anAccount } from './testkit/small-account.ts';

const NEVER = new AbortController().signal;
const SLOTS = 3;
const OFFERINGS: readonly RankedOffering[] = [
  { instanceType: 'medium', zone: 'zone-b', capacityType: 'reserved', reservationId: 'r-1', price: 0.0002 },
  { instanceType: 'small', zone: 'zone-a', capacityType: 'spot', price: 0.03 },
  { instanceType: 'large', zone: 'zone-a', capacityType: 'spot', price: 0.12 },
  { instanceType: 'small', zone: 'zone-b', capacityType: 'on-demand', price: 0.1 },
];

function aClaim(number: number): NodeClaim {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: `claim-${number}`, uid: `uid-${number}`, labels: {} },
    spec: {
      nodeClassRef: { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'account' },
      requirements: [],
      expireAfter: '720h',
    },
  };
}

/** The objects of a restarted process. */
async function startProcess(cloud: SimulatedCloud, clock: VirtualClock) {
  const driver = new SimulatedDriver({ clock, cloud, cluster: 'test' });
  const clouds = await openedClouds({ cloud: driver, clock });
  return { driver, launchers: new Launchers({ clouds, clock }) };
}

const story = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('create' as const), claim: fc.nat(9), from: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), claim: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(90_000) }) },
  ),
  { size: 'max', maxLength: 60 },
);

describe('the simulated cloud and its launcher, with a cloud that fails, hangs, forgets and runs dry', () => {
  it('never launches a claim twice or overfills a reservation, and leaves nothing that a list does not find', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), story, async (seed, steps) => {
        const clock = new VirtualClock();
        const cloud = new SimulatedCloud({ clock, random: seededRandom(seed) });
        const settings = anAccount({
          market: { ...STILL_MARKET, interruptionsPerHour: 2, interruptedShare: 0.5 },
          reservations: [{ id: 'r-1', instanceType: 'medium', zone: 'zone-b', count: SLOTS, match: 'targeted' }],
          faults: {
            ...NO_FAULTS,
            latencyMs: 200,
            errorRate: 0.15,
            hangRate: 0.1,
            launchFailureRate: 0.15,
            consistencyDelayMs: 5_000,
            requestsPerSecond: 5,
          },
        });
        cloud.configure('account', settings);
        const instancesOf = new Map<string, Set<string>>();
        const start = () => startProcess(cloud, clock);
        cloud.fleet.onChange(({ id, token }) => {
          instancesOf.set(token, (instancesOf.get(token) ?? new Set()).add(id));
        });
        let current = await start();
        const busy = new Set<number>();
        const calls: Promise<unknown>[] = [];
        const expected = ['CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_INSTANCE_NOT_FOUND', 'CLOUD_THROTTLED'] as const;
        const tolerate = (call: Promise<unknown>): void => {
          const settled = call.catch((error) => {
            if (!hasCode(error, ...expected, 'CLOUD_UNAVAILABLE', 'DEADLINE_EXCEEDED')) throw error;
          });
          settled.catch(() => {});
          calls.push(settled);
        };
        for (const step of steps) {
          if (step.do === 'restart') {
            // A process that has ended makes no more calls.
            await clock.run(Promise.all(calls));
            current = await start();
          } else if (step.do === 'wait') await clock.advance(step.ms);
          else if (step.do === 'delete') tolerate(current.driver.delete({ claimUID: `uid-${step.claim}` }, NEVER));
          // A claim has one launch at a time.
          else if (!busy.has(step.claim)) {
            busy.add(step.claim);
            const launch = current.launchers.launch(aClaim(step.claim), OFFERINGS.slice(step.from), NEVER);
            tolerate(launch.finally(() => busy.delete(step.claim)));
          }
          const reserved = [...cloud.fleet.list()].filter(({ capacityType }) => capacityType === 'reserved');
          expect(reserved.length).toBeLessThanOrEqual(SLOTS);
        }
        await clock.run(Promise.all(calls));
        for (const [token, ids] of instancesOf) expect(ids.size, token).toBe(1);

        // The faults end: a new process can find and delete everything that is left.
        cloud.configure('account', { ...settings, faults: NO_FAULTS, market: STILL_MARKET });
        await clock.advance(60_000);
        const { driver: cleaner } = await start();
        const left = await clock.run(cleaner.list('account', NEVER));
        expect(new Set(left.map(({ providerID }) => providerID))).toEqual(
          new Set([...cloud.fleet.list()].map(({ providerID }) => providerID)),
        );
        await clock.run(
          Promise.all(left.map(({ providerID, claim }) => cleaner.delete({ providerID, claimUID: claim.uid }, NEVER))),
        );
        await clock.advance(60_000);
        expect([...cloud.fleet.list()]).toEqual([]);
      }),
    );
  });

  it('makes no reserved launch that fails, for many claims at once', async () => {
    const clock = new VirtualClock();
    const cloud = new SimulatedCloud({ clock, random: seededRandom('many') });
    const reservations = [{ id: 'r-1', instanceType: 'medium', zone: 'zone-b', count: 5, match: 'targeted' as const }];
    cloud.configure('account', anAccount({ reservations, faults: { ...NO_FAULTS, latencyMs: 50 } }));
    const { launchers } = await startProcess(cloud, clock);
    let reservedLaunches = 0;
    const run = cloud.runInstance.bind(cloud);
    cloud.runInstance = (account, request, signal) => {
      if (request.offering.capacityType === 'reserved') reservedLaunches++;
      return run(account, request, signal);
    };
    const claims = Array.from({ length: 1000 }, (_, index) => aClaim(index));
    const launched = await clock.run(
      Promise.all(claims.map((claim) => launchers.launch(claim, OFFERINGS.slice(0, 2), NEVER))),
    );
    const reserved = launched.filter((each) => each.kind === 'launched' && each.machine.capacityType === 'reserved');
    expect(reserved).toHaveLength(5);
    expect(reservedLaunches).toBe(5);
  });
});
