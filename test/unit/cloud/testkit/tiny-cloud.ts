/** A minimal driver: one machine type, kept in memory, with its own node class kind. */
import { conditions } from '../../../../src/apis/karpenter/condition-schema.ts';
import type { NodeClaim } from '../../../../src/apis/karpenter/node-claim.ts';
import { kubeletLabels } from '../../../../src/apis/kubernetes/kubelet-labels.ts';
import { NODES } from '../../../../src/apis/kubernetes/node.ts';
import { resource } from '../../../../src/apis/kubernetes/object.ts';
import { quantities } from '../../../../src/apis/kubernetes/resource-quantities.ts';
import { customResourceDefinition } from '../../../../src/apis/schema/custom-resource-definition.ts';
import { defaulted, number, object } from '../../../../src/apis/schema/schema.ts';
import type { Cloud, NoticeSource } from '../../../../src/cloud/cloud.ts';
import type { CloudWorld, LoadedCloud } from '../../../../src/cloud/cloud-module.ts';
import { launchOneByOne } from '../../../../src/cloud/launch-one-by-one.ts';
import type { Machine } from '../../../../src/cloud/machine.ts';
import { NodeClassController } from '../../../../src/cloud/node-class/node-class-controller.ts';
import type { NodeClass, NodeClassKind } from '../../../../src/cloud/node-class-kind.ts';
import type { ReceivedNotice } from '../../../../src/cloud/notice.ts';
import type { InstanceType } from '../../../../src/engine/problem.ts';
import type { RankedOffering } from '../../../../src/engine/solution.ts';
import { SpindriftError } from '../../../../src/platform/errors.ts';

interface TinyNodeClass extends NodeClass {
  readonly spec: { readonly price: number };
}

export const TINY_NODE_CLASSES = resource<TinyNodeClass>(
  'tiny.example.com/v1',
  'TinyNodeClass',
  'tinynodeclasses',
  'cluster',
);

export const TINY_KIND: NodeClassKind<TinyNodeClass> = {
  resource: TINY_NODE_CLASSES,
  definition: customResourceDefinition(TINY_NODE_CLASSES, {
    description: 'A cloud for tests.',
    spec: defaulted({}, object('What it sells.', { price: defaulted(1, number('USD per hour.')) })),
    status: object('What is known.', { conditions: conditions('reason optional') }),
    columns: [],
  }),
  conditions: { root: 'Ready', dependents: ['PriceKnown'] },
  hash: {
    annotation: 'tiny.example.com/hash',
    versionAnnotation: 'tiny.example.com/hash-version',
    version: 'v2',
    of: ({ spec }) => `${spec.price}`,
  },
  finalizer: 'tiny.example.com/termination',
};

const GIB = 1024 ** 3;
const CAPACITY = { cpu: 4000, memory: 16 * GIB, pods: 110 };

export class TinyCloud {
  /** By instance ID. */
  readonly machines = new Map<string, Machine>();
  /** While true every call fails. */
  down = false;
  /** Names of node classes whose `cleanUp` ran. */
  readonly cleaned: string[] = [];
  readonly #waiting: ((notice: ReceivedNotice) => void)[] = [];

  /** Sends a notice that a machine will be interrupted. */
  interrupt(id: string, at: number, deadline: number): void {
    const notice = { kind: 'spot-interruption', machine: id, at, deadline, source: 'tiny', detail: 'soon' };
    for (const hear of this.#waiting.splice(0))
      hear({ ...notice, acknowledge: async () => {} } as unknown as ReceivedNotice);
  }

  /** The cloud as a loaded module. */
  loaded(): LoadedCloud {
    const labels = { wellKnown: [], restrictedDomains: ['tiny.example.com'] };
    return {
      name: 'tiny',
      nodeClass: TINY_KIND as unknown as NodeClassKind,
      labels,
      open: async (world) => this.#open(world),
    };
  }

  #open(world: CloudWorld): Cloud {
    const answer = async <T>(work: () => T | Promise<T>): Promise<T> => {
      if (this.down) throw new SpindriftError('CLOUD_UNAVAILABLE', { operation: 'a call', problem: 'tiny is down' });
      return work();
    };
    const source: NoticeSource = { name: 'tiny', receive: (signal) => this.#receive(signal) };
    const types = new Map<number, readonly InstanceType[]>();
    const classes = new NodeClassController<TinyNodeClass>({
      name: 'tiny.nodeclass',
      kind: TINY_KIND,
      world,
      resolve: async ({ spec }) => ({
        conditions: [
          spec.price > 0
            ? { type: 'PriceKnown', status: 'True' }
            : { type: 'PriceKnown', status: 'False', reason: 'PriceMissing', message: 'spec.price must be above 0' },
        ],
      }),
      cleanUp: async ({ metadata }) => void this.cleaned.push(metadata.name ?? ''),
    });
    return {
      name: 'tiny',
      nodeClass: TINY_KIND as unknown as NodeClassKind,
      labels: this.loaded().labels,
      settleMs: 0,
      repairPolicies: [],
      noticeSources: [source],
      controllers: [classes],
      scopes: () => ['home'],
      scopeOf: () => 'home',
      catalogue: (nodeClass) =>
        answer(() => {
          const { price } = (nodeClass as TinyNodeClass).spec;
          if (!types.has(price)) types.set(price, sold(price));
          return { instanceTypes: types.get(price) ?? [], reservations: [], countedAt: world.clock.elapsed() };
        }),
      launch: ({ claim, ...request }) =>
        launchOneByOne(request, (offering) => answer(() => this.#launch(claim, offering, world))),
      find: (claim) => answer(() => [...this.machines.values()].find((each) => each.claim.uid === claim.metadata.uid)),
      get: (providerID) =>
        answer(() => {
          const machine = this.machines.get(keyOf(providerID) ?? '');
          if (machine !== undefined) return machine;
          throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
        }),
      list: () => answer(() => [...this.machines.values()]),
      delete: ({ claimUID }) =>
        answer(() => {
          for (const [id, machine] of this.machines) if (machine.claim.uid === claimUID) this.machines.delete(id);
          return 'gone';
        }),
      drift: async () => undefined,
      machineKey: keyOf,
    };
  }

  async #launch({ metadata, spec }: NodeClaim, offering: RankedOffering, world: CloudWorld): Promise<Machine> {
    const { name = '', uid = '', labels: own = {} } = metadata;
    const id = `t-${uid.slice(0, 8)}`;
    const labels = {
      'node.kubernetes.io/instance-type': 'tiny',
      'topology.kubernetes.io/zone': 'tiny-1',
      'karpenter.sh/capacity-type': 'spot',
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
    };
    const machine: Machine = {
      ...{ providerID: `tiny:///home/${id}`, state: 'running', instanceType: 'tiny', zone: offering.zone },
      ...{ capacityType: 'spot', labels, capacity: CAPACITY, allocatable: CAPACITY, launchedAt: world.clock.now() },
      ...{ claim: { name, uid }, pool: own['karpenter.sh/nodepool'] ?? '', nodeClass: spec.nodeClassRef.name },
    };
    this.machines.set(id, machine);
    await world.client.create(NODES, {
      ...{ apiVersion: 'v1', kind: 'Node' },
      metadata: {
        name: `tiny-${name}`,
        labels: kubeletLabels(`tiny-${name}`, { ...own, ...labels }),
        annotations: { 'spindrift.dev/simulated': 'true' },
      },
      spec: {
        providerID: machine.providerID,
        taints: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }],
      },
      status: { capacity: quantities(CAPACITY), allocatable: quantities(CAPACITY) },
    });
    return machine;
  }

  async *#receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice> {
    while (!signal.aborted) {
      const notice = await new Promise<ReceivedNotice | undefined>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(undefined), { once: true });
      });
      if (notice !== undefined) yield notice;
    }
  }
}

function sold(price: number): readonly InstanceType[] {
  return [
    {
      name: 'tiny',
      labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' },
      capacity: CAPACITY,
      offerings: [{ zone: 'tiny-1', capacityType: 'spot', price }],
    },
  ];
}

function keyOf(providerID: string): string | undefined {
  return /^tiny:\/\/\/home\/(.+)$/.exec(providerID)?.[1];
}
