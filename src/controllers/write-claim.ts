/** Creates the NodeClaims of planned nodes, for provisioning and disruption. */
import { NODE_CLAIMS, type NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { NodePool } from '../apis/karpenter/node-pool.ts';
import type { NewNode } from '../engine/solution.ts';
import type { KubeClient } from '../kube/client.ts';
import type { CounterMetric, Metrics } from '../platform/metrics.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { ComingNodes } from '../state/coming-nodes.ts';
import { claimForNode } from './provisioning/claim-for-node.ts';

export interface ClaimWriterOptions {
  readonly client: KubeClient;
  readonly state: ClusterState;
  /** Counts the claims that are not created yet. */
  readonly coming: ComingNodes;
  readonly metrics: Metrics;
  /** Called for each claim that this process created: no other process can have launched it. */
  readonly written?: ((claim: NodeClaim) => void) | undefined;
}

/** A claim to create, and why. */
export interface WantedClaim {
  readonly node: NewNode;
  readonly pool: NodePool;
  /** The cloud's name of an instance type in the plan. */
  readonly cloudName: (instanceType: string) => string;
  /** For metrics: `provisioned`, or the reason of a disruption in lower case. */
  readonly reason: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export class ClaimWriter {
  readonly #options: ClaimWriterOptions;
  readonly #created: CounterMetric<'reason' | 'nodepool' | 'min_values_relaxed'>;

  constructor(options: ClaimWriterOptions) {
    this.#options = options;
    this.#created = options.metrics.counter({
      name: 'karpenter_nodeclaims_created_total',
      help: 'NodeClaims created, per reason, pool, and whether minValues had to be relaxed',
      labels: ['reason', 'nodepool', 'min_values_relaxed'],
    });
  }

  /** Creates the claim, and adds it to the state before the cache shows it. */
  async write({ node, pool, cloudName, reason, annotations }: WantedClaim, signal: AbortSignal): Promise<NodeClaim> {
    const { client, coming, state, written } = this.#options;
    let claim: NodeClaim;
    try {
      const wanted = claimForNode(node, pool, cloudName);
      const metadata = { ...wanted.metadata, annotations: { ...wanted.metadata.annotations, ...annotations } };
      claim = await client.create(NODE_CLAIMS, { ...wanted, metadata }, { signal });
      written?.(claim);
      state.assume(claim);
    } finally {
      coming.settled(node);
    }
    this.#created.add({ reason, nodepool: node.pool, min_values_relaxed: 'false' });
    return claim;
  }
}
