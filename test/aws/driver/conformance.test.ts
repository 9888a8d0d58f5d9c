import { afterAll, beforeAll } from 'vitest';
import { type CloudUnderTest, describeCloud, type Trouble } from '../../../src/cloud/cloud.conformance.ts';
import type { Cloud } from '../../../src/cloud/cloud.ts';
import type { RankedOffering } from '../../../src/engine/solution.ts';
import { AwsGround } from '../aws-ground.ts';
import { DriverWorld } from './driver-world.ts';
import { TroubledApi } from './troubled-api.ts';
import { WarpClock } from './warp-clock.ts';

const ground = new AwsGround();
const ZONES = ['us-east-1a', 'us-east-1b'] as const;
const TYPE = 'm5.large';
let clusters = 0;

beforeAll(() => ground.start());
afterAll(() => ground.stop());

describeCloud('aws', async (): Promise<CloudUnderTest> => {
  // A cluster of its own: forgetting everything takes the ground many seconds.
  const account = await ground.seed({ cluster: `conformance-${++clusters}` });
  const slots = 2;
  const { id: reservationId } = await ground.reserve({
    instanceType: 'c5.large',
    zone: ZONES[0],
    count: slots,
    match: 'targeted',
  });
  const clock = new WarpClock();
  const apis: TroubledApi[] = [];
  const nodeClasses = new Map();
  const open = () =>
    DriverWorld.open(
      ground,
      account,
      {},
      {
        clock,
        nodeClasses,
        wrap: (api) => {
          const troubled = new TroubledApi(api, clock);
          troubled.trouble = lost;
          apis.push(troubled);
          return troubled;
        },
      },
    );
  let lost: TroubledApi['trouble'];
  const world = await open();
  const terms = [{ id: reservationId }];
  const resolved = await world.nodeClass('ready', { capacityReservationSelectorTerms: terms });
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', observedGeneration: 1 } as const;
  const nodeClass = { ...resolved, status: { ...resolved.status, conditions: [ready] } };
  nodeClasses.set('ready', nodeClass);
  const { instanceTypes } = await world.cloud.catalogue(nodeClass, world.signal);
  const offering = (capacityType: 'spot' | 'on-demand', zone: string): RankedOffering => {
    const sold = instanceTypes.find(({ name }) => name === TYPE)?.offerings ?? [];
    const price = sold.find((each) => each.zone === zone && each.capacityType === capacityType)?.price ?? 0;
    return { instanceType: TYPE, zone, capacityType, price };
  };
  const spot = ZONES.map((zone) => offering('spot', zone)).sort((a, b) => a.price - b.price);
  // Drivers of restarted processes are made without waiting.
  const spare: DriverWorld[] = [world, await open(), await open(), await open()];
  const trouble = async (kind: Trouble | undefined): Promise<void> => {
    await ground.mend();
    await ground.quota({ capacityType: 'spot', vcpus: undefined });
    await ground.quota({ capacityType: 'on-demand', vcpus: undefined });
    lost = kind === 'hang' || kind === 'lost-answer' ? kind : undefined;
    for (const api of apis) api.trouble = lost;
    const action = 'ec2:CreateFleet';
    if (kind === 'throttled') await ground.fail({ action, code: 'RequestLimitExceeded', status: 503 });
    if (kind === 'denied') await ground.deny({ action });
    if (kind === 'server-error') await ground.fail({ action: '*', code: 'InternalError', status: 500 });
    if (kind === 'quota') {
      for (const capacityType of ['spot', 'on-demand'] as const) await ground.quota({ capacityType, vcpus: 0 });
    }
  };
  return {
    clock,
    driver: (): Cloud => {
      const next = spare.shift();
      if (next === undefined) throw new Error('more processes than were made ready');
      return next.cloud;
    },
    nodeClass,
    offerings: [...spot, offering('on-demand', ZONES[0])],
    reserved: {
      offering: { instanceType: 'c5.large', zone: ZONES[0], capacityType: 'reserved', reservationId, price: 0.000085 },
      slots,
    },
    launches: () => new Set(apis.flatMap(({ launched }) => [...launched])).size,
    exhaust: ({ instanceType, zone, capacityType }) =>
      ground.exhaust({ type: instanceType, zone, capacityType: capacityType === 'spot' ? 'spot' : 'on-demand' }),
    trouble,
    settle: (promise) => promise,
    pass: async (milliseconds) => {
      await ground.advance(milliseconds / 1000);
      await clock.warp(milliseconds);
    },
    close: async () => {
      await trouble(undefined);
      await ground.restore();
    },
  };
});
