import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { RankedOffering } from '../engine/solution.ts';
import type { EpochMs } from '../platform/clock.ts';
import { SpindriftError } from '../platform/errors.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import type { Cloud, LaunchAnswer, LaunchRequest } from './cloud.ts';
import { Launcher } from './launcher.ts';
import type { Machine } from './machine.ts';
import { Market } from './market.ts';
import { nameOf } from './offering-key.ts';
import { Reservations } from './reservations.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const NEVER = new AbortController().signal;
const NODE_CLASS = { apiVersion: 'test/v1', kind: 'TestNodeClass', metadata: { name: 'default' } };
const [SPOT_A, SPOT_B, RESERVED]: readonly [RankedOffering, RankedOffering, RankedOffering] = [
  { instanceType: 'small', zone: 'a', capacityType: 'spot', price: 1 },
  { instanceType: 'small', zone: 'b', capacityType: 'spot', price: 2 },
  { instanceType: 'small', zone: 'a', capacityType: 'reserved', reservationId: 'r/1', price: 0.001 },
];
const CLAIM = {
  metadata: { name: 'one', uid: 'uid-one', labels: { 'karpenter.sh/nodepool': 'general' } },
  spec: { nodeClassRef: { group: 'test', kind: 'TestNodeClass', name: 'default' } },
} as unknown as NodeClaim;

function machine(offering: RankedOffering): Machine {
  const { instanceType, zone, capacityType, reservationId } = offering;
  return { providerID: `test:///${zone}`, instanceType, zone, capacityType, reservationId } as Machine;
}

/** A launcher on a cloud that answers as it is told, one answer a call, and remembers what it was asked. */
function world(answers: ((request: LaunchRequest) => LaunchAnswer | Promise<LaunchAnswer>)[], settleMs = 0) {
  const clock = new VirtualClock();
  const asked: { attempt: number; zones: string }[] = [];
  const found: Machine[] = [];
  let finds = 0;
  const cloud = {
    name: 'test',
    settleMs,
    nodeClass: { hash: { annotation: 'hash', versionAnnotation: 'version', version: 'v1', of: () => '42' } },
    labels: { wellKnown: [], restrictedDomains: [] },
    scopeOf: () => 'home',
    catalogue: async () => {
      const reservation = { id: 'r/1', instanceType: 'small', zone: 'a', free: 1 };
      return { instanceTypes: [], reservations: [reservation], countedAt: clock.elapsed() };
    },
    launch: async (request: LaunchRequest) => {
      asked.push({ attempt: request.attempt, zones: request.offerings.map(({ zone }) => zone).join('') });
      const answer = answers.shift();
      if (answer === undefined) throw new Error('asked too often');
      return answer(request);
    },
    find: async () => {
      finds++;
      return found[0];
    },
  } as unknown as Cloud;
  const unavailable = new UnavailableOfferings({ clock });
  const reservations = new Reservations({ clock });
  const market = new Market({ cloud, clock, unavailable, reservations });
  const launcher = (isNew = true, startedAt: EpochMs = clock.now()) =>
    new Launcher({ cloud, market, clock, startedAt, isNew: () => isNew });
  return { clock, asked, found, finds: () => finds, launcher, market, reservations, unavailable };
}

const refuse =
  (...offerings: RankedOffering[]) =>
  (): LaunchAnswer => ({
    kind: 'refused',
    refused: offerings.map((offering) => ({ offering: nameOf(offering), cause: 'capacity', message: 'none left' })),
  });
const lost = (): never => {
  throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'launch', problem: 'lost' });
};
const take = ({ offerings }: LaunchRequest): LaunchAnswer => ({ kind: 'launched', machine: machine(offerings[0]!) });

describe('the launcher', () => {
  it('asks nobody whether a claim that was just written has a machine, and stamps it with the hash of its class', async () => {
    const { launcher, finds } = world([take]);
    const launched = await launcher().launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER);
    expect(launched).toMatchObject({ kind: 'launched', annotations: { hash: '42', version: 'v1' } });
    expect(finds()).toBe(0);
  });

  it('tries what is left in the same launch, under the next number, and takes what was refused out of the market', async () => {
    const { launcher, asked, market } = world([refuse(SPOT_A), take]);
    const launched = await launcher().launch(CLAIM, NODE_CLASS, [SPOT_A, SPOT_B], NEVER);
    expect(launched).toMatchObject({ machine: { zone: 'b' } });
    expect(asked).toEqual([
      { attempt: 0, zones: 'ab' },
      { attempt: 1, zones: 'b' },
    ]);
    expect(market.isOut(SPOT_A, 'default', 'general')).toBe(true);
  });

  it('takes what was refused on the way to a success out of the market too', async () => {
    const refused = [{ offering: nameOf(SPOT_A), cause: 'capacity' as const, message: 'none left' }];
    const { launcher, market } = world([() => ({ kind: 'launched', machine: machine(SPOT_B), refused })]);
    await launcher().launch(CLAIM, NODE_CLASS, [SPOT_A, SPOT_B], NEVER);
    expect(market.isOut(SPOT_A, 'default', 'general')).toBe(true);
    expect(market.isOut(SPOT_B, 'default', 'general')).toBe(false);
  });

  it('makes a call whose outcome is not known again as it was, whatever has left the market since', async () => {
    const { launcher, asked, unavailable, finds } = world([lost, take]);
    const ours = launcher();
    await expect(ours.launch(CLAIM, NODE_CLASS, [SPOT_A, SPOT_B], NEVER)).rejects.toThrow('lost');
    unavailable.mark({ ...nameOf(SPOT_A), scope: 'test/home' }, 'none left');
    await ours.launch(CLAIM, NODE_CLASS, [SPOT_B], NEVER);
    expect(asked).toEqual([
      { attempt: 0, zones: 'ab' },
      { attempt: 0, zones: 'ab' },
    ]);
    expect(finds()).toBe(1);
  });

  it('takes the machine that is there over another launch', async () => {
    const { launcher, asked, found } = world([lost]);
    const ours = launcher();
    await expect(ours.launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER)).rejects.toThrow('lost');
    found.push(machine(SPOT_A));
    expect(await ours.launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER)).toMatchObject({ kind: 'launched' });
    expect(asked).toHaveLength(1);
  });

  it('launches nothing for a claim of a former process before the cloud must show what that one launched', async () => {
    const { clock, launcher, asked } = world([take], 30_000);
    const ours = launcher(false);
    const waiting = await ours.launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER);
    expect(waiting).toMatchObject({ kind: 'pending', askAgainMs: 5000 });
    await clock.advance(29_000);
    expect(await ours.launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER)).toMatchObject({ kind: 'pending', askAgainMs: 1000 });
    expect(asked).toEqual([]);
    await clock.advance(1000);
    expect(await ours.launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER)).toMatchObject({ kind: 'launched' });
  });

  it('holds a reserved slot while the outcome is not known, and gives it back when something else was launched', async () => {
    const { launcher, reservations } = world([
      ({ takeSlot }) => {
        takeSlot('r/1');
        return lost();
      },
      take,
    ]);
    const ours = launcher();
    await expect(ours.launch(CLAIM, NODE_CLASS, [SPOT_A, RESERVED], NEVER)).rejects.toThrow('lost');
    expect(reservations.free('r/1')).toBe(0);
    await ours.launch(CLAIM, NODE_CLASS, [SPOT_A, RESERVED], NEVER);
    expect(reservations.free('r/1')).toBe(1);
  });

  it('counts a slot as used from the launch into it on', async () => {
    const { launcher, reservations } = world([
      (request) => {
        expect(request.takeSlot('r/1')).toBe(true);
        return { kind: 'launched', machine: machine(RESERVED) };
      },
    ]);
    await launcher().launch(CLAIM, NODE_CLASS, [RESERVED], NEVER);
    expect(reservations.free('r/1')).toBe(0);
  });

  it('does not ask for ever where a driver refuses without saying what', async () => {
    const { launcher, asked } = world([() => ({ kind: 'refused', refused: [] })]);
    const launch = launcher().launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER);
    await expect(launch).rejects.toMatchObject({ code: 'CLOUD_UNAVAILABLE' });
    expect(asked).toHaveLength(1);
  });

  it('says what there was no capacity of, and in which words the cloud said so', async () => {
    const { launcher } = world([refuse(SPOT_A)]);
    const launch = launcher().launch(CLAIM, NODE_CLASS, [SPOT_A], NEVER);
    await expect(launch).rejects.toThrow('no capacity for one: spot:small:a (none left)');
  });
});
