/** Clusters whose nodes do not help the pods they are launched for, and the cost of an hour of that. */
import { NODE_POOLS } from '../../../../src/apis/karpenter/node-pool.ts';
import { LIMIT_RANGES } from '../../../../src/apis/kubernetes/limit-range.ts';
import { NODES, type Node } from '../../../../src/apis/kubernetes/node.ts';
import { PODS } from '../../../../src/apis/kubernetes/pod.ts';
import { DAEMON_SETS, DEPLOYMENTS, JOBS } from '../../../../src/apis/kubernetes/workloads.ts';
import { NO_FAULTS } from '../../../../src/cloud/simulated/account-settings.ts';
import { anAccount } from '../../../../src/cloud/simulated/testkit/small-account.ts';
import { aPod } from '../../../../src/embedded/testkit/objects.ts';
import { aDaemonSet, aJob, aTemplate } from '../../../../src/embedded/testkit/workloads.ts';
import { aPool, aWorkload } from './fleet-objects.ts';
import { FleetWorld, type FleetWorldOptions } from './fleet-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The cause that makes nodes useless. */
export interface Trouble {
  readonly name: string;
  /** The most machines that may be launched within an hour. */
  readonly most: number;
  readonly account?: FleetWorldOptions['account'];
  begin(world: FleetWorld): Promise<void>;
}

/** The result of such an hour. */
export interface Outcome {
  readonly machines: number;
  readonly dollars: number;
  /** Running pods at the end, without DaemonSet pods. */
  readonly running: number;
}

/** Calls back for each new node. */
function onEachNode(world: FleetWorld, act: (node: Node) => Promise<unknown>): void {
  const seen = new Set<string>();
  void (async () => {
    for await (const event of world.client.watch(NODES, {}, { signal: world.lifetime })) {
      if (event.type === 'BOOKMARK' || seen.has(event.object.metadata.uid ?? '')) continue;
      seen.add(event.object.metadata.uid ?? '');
      await act(event.object);
    }
  })().catch(() => {});
}

/** Adds a pod of two cores to each node that no DaemonSet creates: owned by the node, as static pods are, or by some operator. */
function withPodOnEachNode(world: FleetWorld, owner: 'Node' | 'Agent'): void {
  onEachNode(world, ({ metadata: { name = '', uid = '' } }) => {
    const pod = aPod(`hidden-${name}`, { requests: { cpu: '2' }, spec: { nodeName: name, tolerations: EVERYTHING } });
    const ownerReferences = [{ apiVersion: 'v1', kind: owner, name, uid, controller: true }];
    return world.client.create(PODS, { ...pod, metadata: { ...pod.metadata, ownerReferences } });
  });
}

const EVERYTHING = [{ operator: 'Exists' as const }];

/** Pods of three cores, which fit an otherwise empty machine of four. */
const web = (world: FleetWorld, replicas = 1) => world.client.create(DEPLOYMENTS, aWorkload('web', replicas, '3'));

/** A DaemonSet without requests. */
const silentDaemon = (world: FleetWorld) => {
  const spec = { containers: [{ name: 'main', image: 'app' }], tolerations: EVERYTHING };
  return world.client.create(DAEMON_SETS, aDaemonSet('agent', { template: aTemplate('agent', 'app', spec) }));
};

export const TROUBLES: readonly Trouble[] = [
  {
    name: 'a daemon of 2 CPU by LimitRange',
    most: 1,
    async begin(world) {
      const limits = [{ type: 'Container' as const, defaultRequest: { cpu: '2' } }];
      const metadata = { name: 'range', namespace: 'default' };
      await world.client.create(LIMIT_RANGES, { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } });
      await silentDaemon(world);
      await web(world);
    },
  },
  {
    name: 'a static pod of 2 CPU on each node',
    most: 2,
    async begin(world) {
      withPodOnEachNode(world, 'Node');
      await web(world);
    },
  },
  {
    name: 'a pod of 2 CPU on each node that belongs to no DaemonSet',
    most: 2,
    async begin(world) {
      withPodOnEachNode(world, 'Agent');
      await web(world);
    },
  },
  {
    name: 'a taint on each node that no pool knows of',
    most: 8,
    async begin(world) {
      const taint = { key: 'security/scan', effect: 'NoSchedule' as const };
      onEachNode(world, ({ metadata: { name = '' }, spec }) => {
        const body = { spec: { taints: [...(spec?.taints ?? []), taint] } };
        return world.client.patch(NODES, { name }, { type: 'merge', body });
      });
      await web(world);
    },
  },
  {
    name: 'nodes a third smaller than their type',
    most: 2,
    account: { faults: { ...NO_FAULTS, missingCapacity: 0.33 } },
    begin: async (world) => void (await web(world)),
  },
  {
    name: 'a pod that crashes at once',
    most: 8,
    async begin(world) {
      const job = aJob('crash', ['sh', '-c', 'exit 1'], { backoffLimit: 1000 });
      const { spec } = job.spec.template;
      const resources = { requests: { cpu: '3' } };
      const template = { ...job.spec.template, spec: { ...spec, containers: [{ ...spec.containers[0]!, resources }] } };
      await world.client.create(JOBS, { ...job, spec: { ...job.spec, template } });
    },
  },
  {
    name: 'nodes that never join',
    most: 7,
    account: { faults: { ...NO_FAULTS, registrationFailureRate: 1 } },
    begin: async (world) => void (await web(world, 10)),
  },
];

/** Runs one hour of it. */
export async function oneHourOf(trouble: Trouble, during?: (world: FleetWorld) => Promise<void>): Promise<Outcome> {
  const account = anAccount(trouble.account);
  const world = await FleetWorld.start({ account, slowHeartbeats: true });
  const bill = new Bill(world);
  const disruption = { consolidateAfter: '0s' };
  await world.client.create(NODE_POOLS, aPool('general', { disruption } as never));
  await world.clock.advance(1000);
  await trouble.begin(world);
  if (during === undefined) await world.clock.advance(HOUR);
  else await during(world);
  const pods = (await world.client.list(PODS)).items;
  const running = pods.filter(
    ({ metadata, status }) => /^(web|crash)-/.test(metadata.name ?? '') && status?.phase === 'Running',
  );
  const outcome = { ...bill.total(), running: running.length };
  await world.end();
  return outcome;
}

/** The cost of machines, from launch until they are gone. */
class Bill {
  readonly #world: FleetWorld;
  readonly #since = new Map<string, { readonly at: number; readonly price: number }>();
  #dollars = 0;
  #machines = 0;

  constructor(world: FleetWorld) {
    this.#world = world;
    world.cloud.fleet.onChange(({ id, state, instanceType, zone, capacityType }) => {
      if (state === 'pending' && !this.#since.has(id)) {
        const type = anAccount().catalogue.find(({ name }) => name === instanceType);
        const offering = type?.offerings.find((each) => each.zone === zone && each.capacityType === capacityType);
        this.#machines++;
        this.#since.set(id, { at: world.clock.elapsed(), price: offering?.price ?? 0 });
      }
      if (state === 'terminated') {
        this.#dollars += this.#costOf(id);
        this.#since.delete(id);
      }
    });
  }

  total(): { machines: number; dollars: number } {
    const running = [...this.#since.keys()].reduce((sum, id) => sum + this.#costOf(id), 0);
    return { machines: this.#machines, dollars: this.#dollars + running };
  }

  #costOf(id: string): number {
    const { at, price } = this.#since.get(id) ?? { at: 0, price: 0 };
    return ((this.#world.clock.elapsed() - at) / HOUR) * price;
  }
}
