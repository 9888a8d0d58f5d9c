import { describeCloud, type Trouble } from '../../src/cloud/cloud.conformance.ts';
import type { ApiCall } from '../../src/cloud/ibm/api/http-service.ts';
import { builtInPrice } from '../../src/cloud/ibm/prices/built-in-prices.ts';
import type { RankedOffering } from '../../src/engine/solution.ts';
import { localIbm } from './testkit/local-ibm.ts';

/** At the built-in prices, which hold until the catalogue has been read. */
function offered(vcpu: number, zone: string, capacityType: 'spot' | 'on-demand'): RankedOffering {
  const shape = {
    name: '',
    family: 'bxf',
    size: '',
    vcpu,
    memoryGiB: vcpu * 4,
    architecture: 'amd64',
    capacityTypes: [],
    localStorageGB: 0,
    zones: undefined,
  };
  const price = ((builtInPrice(shape) ?? 0) * (capacityType === 'spot' ? 60 : 100)) / 100;
  return { instanceType: `bxf-${vcpu}x${vcpu * 4}`, zone, capacityType, price };
}

describeCloud('IBM Cloud VPC, on the local server', async () => {
  const ibm = await localIbm();
  const { clock, server } = ibm;
  const { world } = server;
  let trouble: Trouble | undefined;
  const isLaunch = ({ method, path }: ApiCall): boolean => method === 'POST' && path === '/instances';
  const never = () => new Promise<void>(() => {});
  const wire = {
    before: (call: ApiCall) => (trouble === 'hang' && isLaunch(call) ? never() : undefined),
    after: (call: ApiCall) => (trouble === 'lost-answer' && isLaunch(call) ? never() : undefined),
  };
  const statuses = {
    throttled: [429, 'rate_limit_exceeded'],
    denied: [403, 'not_authorized'],
    'server-error': [503, 'service_error'],
  } as const;
  world.faults.before = () => {
    const told =
      trouble === undefined || !(trouble in statuses) ? undefined : statuses[trouble as keyof typeof statuses];
    return told === undefined ? undefined : { status: told[0], code: told[1] };
  };
  const drivers = await Promise.all(Array.from({ length: 8 }, () => ibm.driver(wire)));
  return {
    clock,
    driver: () => {
      const driver = drivers.pop();
      if (driver === undefined) throw new Error('no driver is left');
      return driver;
    },
    nodeClass: ibm.nodeClass,
    offerings: [
      offered(2, 'us-south-1', 'spot'),
      offered(2, 'us-south-2', 'spot'),
      offered(4, 'us-south-1', 'on-demand'),
    ],
    launches: () => [...world.made.values()].reduce((sum, times) => sum + times, 0),
    leftovers: () => {
      const { instances, volumes, interfaces } = world.count();
      return Math.max(volumes - instances, 0) + Math.max(interfaces - instances, 0);
    },
    exhaust: ({ capacityType, instanceType, zone }) => {
      world.faults.noCapacity.add(`${capacityType === 'spot' ? 'spot' : 'standard'}:${instanceType}:${zone}`);
    },
    interrupt: (providerID) => world.preempt(providerID.split('/').at(-1) ?? ''),
    trouble: (wanted) => {
      trouble = wanted;
      world.faults.quota = wanted === 'quota' ? 0 : Number.POSITIVE_INFINITY;
    },
    settle: (promise) => clock.run(promise),
    pass: (milliseconds) => clock.advance(milliseconds),
  };
});
