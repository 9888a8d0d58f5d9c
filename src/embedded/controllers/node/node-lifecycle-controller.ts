import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import { PODS, type Pod } from '../../../apis/kubernetes/pod.ts';
import type { ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { NODE_LEASES } from '../../cluster-informers.ts';
import { patchNewest } from '../../patch-newest.ts';
import type { ControllerOptions } from '../controller-options.ts';
import { isReady } from '../pod-facts.ts';
import { ReconcileLoop } from '../reconcile-loop.ts';
import { decideNode, type NodeTimes } from './decide-node.ts';

/** Detects nodes that have stopped reporting, and taints nodes by their state. */
export class NodeLifecycleController {
  readonly #options: ControllerOptions;
  readonly #times: NodeTimes;
  readonly #loop: ReconcileLoop;

  constructor(options: ControllerOptions & { readonly nodeTimes?: Partial<NodeTimes> }) {
    this.#options = options;
    this.#times = { graceMs: 40_000, startupGraceMs: 60_000, ...options.nodeTimes };
    const { informers } = options;
    this.#loop = new ReconcileLoop(options, {
      name: 'node.lifecycle',
      listen: (queue) => [enqueueOn(informers.nodes, queue)],
      reconcile: (name) => this.#reconcile(name),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }

  async #reconcile(name: string): Promise<ReconcileResult | undefined> {
    const { client, clock, informers } = this.#options;
    const node = informers.nodes.get(name);
    if (node === undefined) return undefined;
    const decide = (newest: Node) => {
      const lease = informers.leases.get({ name, namespace: NODE_LEASES });
      return decideNode(newest, parseTimestamp(lease?.spec?.renewTime), clock.now(), this.#times);
    };
    const plan = decide(node);
    if (plan.conditions !== undefined) {
      const change = (newest: Node): object | undefined => {
        const { conditions } = decide(newest);
        return conditions === undefined ? undefined : { status: { conditions } };
      };
      await patchNewest(client, NODES, node, change, { subresource: 'status' });
      this.#options.recorder.record({
        object: node,
        type: 'Normal',
        reason: 'NodeNotReady',
        message: `Node ${name} status is now: NodeNotReady`,
      });
    }
    if (plan.taints !== undefined) {
      await patchNewest(client, NODES, informers.nodes.get(name) ?? node, (newest) => {
        const { taints } = decide(newest);
        return taints === undefined ? undefined : { spec: { taints: taints.length === 0 ? null : taints } };
      });
    }
    const spoken = node.status?.conditions?.some(({ type }) => type === 'Ready') ?? false;
    if (!plan.ready && spoken) await this.#markPodsNotReady(name);
    // Lease renewals do not trigger a reconcile, so the node is checked again when its grace period ends.
    const wait = plan.silentAt - clock.now();
    return wait > 0 ? { requeueAfterMs: wait } : undefined;
  }

  /** Marks the pods of a not-ready node as not ready, since their state is uncertain. */
  async #markPodsNotReady(nodeName: string): Promise<void> {
    const { client, clock, informers } = this.#options;
    const lastTransitionTime = toTimestamp(clock.now());
    for (const pod of informers.pods.byIndex('node', nodeName)) {
      if (!isReady(pod)) continue;
      const change = (newest: Pod): object | undefined => {
        if (!isReady(newest)) return undefined;
        const conditions = newest.status?.conditions?.map((condition) =>
          condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime } : condition,
        );
        return { status: { conditions } };
      };
      await patchNewest(client, PODS, pod, change, { subresource: 'status' });
    }
  }
}
