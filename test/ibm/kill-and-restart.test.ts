import { describe, expect, it } from 'vitest';
import { machineOf } from '../../src/cloud/machine.ts';
import { launchingProcess } from './testkit/launching-process.ts';
import { aClaim, type LocalIbm, localIbm, offering } from './testkit/local-ibm.ts';

const SOLD_OUT = offering('bxf-2x8', 'us-south-1', 'spot');
const THERE = offering('bxf-4x16', 'us-south-2', 'spot');
const NEVER = new AbortController().signal;

/** Where a process dies: before its call of that number is carried out, or after it, before it hears the answer. */
interface Death {
  readonly call: number;
  readonly when: 'before' | 'after';
}

/** A launch whose first offering answers 201 and fails, leaving its parts behind. */
async function world(leftovers: boolean): Promise<LocalIbm> {
  const ibm = await localIbm();
  ibm.server.world.faults.noCapacity.add(`spot:${SOLD_OUT.instanceType}:${SOLD_OUT.zone}`);
  ibm.server.world.faults.leavesLeftovers = leftovers;
  // Fewer looks at a machine that starts: all of them are alike.
  ibm.server.world.startMs = 6000;
  ibm.server.world.deleteMs = 3000;
  return ibm;
}

/** Lives until it dies; tells how many calls it made, and the most machines that there were at a time. */
async function live(ibm: LocalIbm, death: Death | undefined, claim = aClaim()) {
  const dying = new AbortController();
  let calls = 0;
  let most = 0;
  const count = (): void => {
    const alive = [...ibm.server.world.instances.values()].filter(({ deletedAt }) => deletedAt === undefined);
    most = Math.max(most, alive.length);
  };
  const process = await launchingProcess(ibm, {
    before: () => {
      calls++;
      if (death?.when === 'before' && calls === death.call) dying.abort(new Error('killed'));
    },
    after: () => {
      count();
      if (death?.when === 'after' && calls === death.call) dying.abort(new Error('killed'));
    },
  });
  const launched = process.launch(claim, [SOLD_OUT, THERE], dying.signal).catch((error: unknown) => {
    if (!dying.signal.aborted) throw error;
    return undefined;
  });
  return { machine: await ibm.clock.run(launched), calls, most: () => most, claim, process };
}

describe('a launch that is killed at any await and begun again by another process', () => {
  it.each([false, true])(
    'makes one machine, and leaves nothing behind (parts left by failed creates: %s)',
    async (leftovers) => {
      const { calls: all } = await live(await world(leftovers), undefined);
      expect(all).toBeGreaterThan(10);
      for (let call = 1; call <= all; call++)
        for (const when of ['before', 'after'] as const) {
          const ibm = await world(leftovers);
          const first = await live(ibm, { call, when });
          const second = await live(ibm, undefined, first.claim);
          const place = `killed ${when} call ${call}`;
          expect(second.machine, place).toMatchObject({
            instanceType: THERE.instanceType,
            zone: THERE.zone,
            state: 'running',
          });
          expect(Math.max(first.most(), second.most()), place).toBe(1);
          await ibm.clock.advance(60_000);
          const { instances } = ibm.server.world.count();
          expect(instances, place).toBe(1);
          // The end of the claim takes the machine and all its parts with it.
          for (let tries = 0; tries < 30; tries++) {
            if ((await ibm.clock.run(second.process.driver.delete(machineOf(first.claim), NEVER))) === 'gone') break;
            await ibm.clock.advance(1000);
          }
          expect(ibm.server.world.count(), place).toEqual({ instances: 0, volumes: 0, interfaces: 0 });
        }
    },
  );

  it('and never begun again, leaves what the end of its claim takes away', async () => {
    const { calls: all } = await live(await world(true), undefined);
    for (let call = 1; call <= all; call++) {
      const ibm = await world(true);
      const { claim } = await live(ibm, { call, when: 'after' });
      const other = await launchingProcess(ibm);
      for (let tries = 0; tries < 60; tries++) {
        if ((await ibm.clock.run(other.driver.delete(machineOf(claim), NEVER))) === 'gone') break;
        await ibm.clock.advance(1000);
      }
      expect(ibm.server.world.count(), `killed after call ${call}`).toEqual({
        instances: 0,
        volumes: 0,
        interfaces: 0,
      });
    }
  });
});
