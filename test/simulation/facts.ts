/** The present state of the cluster and the cloud, read synchronously: the input of invariants. */
import { LABEL_NODE_POOL } from '../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../src/apis/karpenter/node-pool.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { NODES, type Node } from '../../src/apis/kubernetes/node.ts';
import type { KubeObject, Resource } from '../../src/apis/kubernetes/object.ts';
import { PODS, type Pod } from '../../src/apis/kubernetes/pod.ts';
import { POD_DISRUPTION_BUDGETS, type PodDisruptionBudget } from '../../src/apis/kubernetes/pod-disruption-budget.ts';
import type { SimulatedInstance } from '../../src/cloud/simulated/simulated-instance.ts';
import type { EpochMs } from '../../src/platform/clock.ts';
import type { FleetWorld } from '../unit/controllers/testkit/fleet-world.ts';
import type { LifePlan } from './draw/life-plan.ts';

export class Facts {
  readonly plan: LifePlan;
  readonly #world: FleetWorld;

  constructor(world: FleetWorld, plan: LifePlan) {
    this.#world = world;
    this.plan = plan;
  }

  get now(): EpochMs {
    return this.#world.clock.now();
  }

  get claims(): readonly NodeClaim[] {
    return this.list(NODE_CLAIMS);
  }

  get nodes(): readonly Node[] {
    return this.list(NODES);
  }

  get pods(): readonly Pod[] {
    return this.list(PODS);
  }

  get pools(): readonly NodePool[] {
    return this.list(NODE_POOLS);
  }

  get podBudgets(): readonly PodDisruptionBudget[] {
    return this.list(POD_DISRUPTION_BUDGETS);
  }

  /** Existing machines, including terminating ones. */
  get instances(): readonly SimulatedInstance[] {
    return [...this.#world.cloud.fleet.list()];
  }

  /** The number of disks and interfaces, which some dialects create besides machines. */
  get parts(): number {
    return this.#world.cloud.launchApi.countParts();
  }

  list<T extends KubeObject>(kind: Resource<T>): readonly T[] {
    return this.#world.cluster.server.list(kind).items as unknown as readonly T[];
  }

  /** The messages of events about an object. */
  said(name: string | undefined): string {
    return this.list(EVENTS)
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`)
      .join('; ');
  }

  claimsOf(pool: string): readonly NodeClaim[] {
    return this.claims.filter(({ metadata }) => metadata.labels?.[LABEL_NODE_POOL] === pool);
  }

  /** The claim of a node. */
  claimOn(nodeName: string | undefined): NodeClaim | undefined {
    return nodeName === undefined ? undefined : this.claims.find(({ status }) => status?.nodeName === nodeName);
  }

  /** Pods on a node that have not ended. */
  podsOn(nodeName: string): readonly Pod[] {
    return this.pods.filter(({ spec, status }) => {
      const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
      return spec.nodeName === nodeName && !ended;
    });
  }

  /** Whether the machine of a node is there. */
  hasMachine({ spec }: Node): boolean {
    return this.instances.some(({ providerID, state }) => providerID === spec?.providerID && state !== 'stopped');
  }
}
