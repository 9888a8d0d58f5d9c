/**
 * Terminates a deleted claim: deletes its node, which drains, then terminates the machine. The finalizer is removed only when the cloud
 * says that the machine is gone.
 */
import { conditionOf } from '../../../apis/karpenter/conditions.ts';
import { ANNOTATION_TERMINATION_TIMESTAMP, FINALIZER_TERMINATION } from '../../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import { keyOf } from '../../../apis/kubernetes/object.ts';
import { machineOf } from '../../../cloud/machine.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { parseTimestamp, toTimestamp } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { claimRequestTimeout, claimRetryWithinMs } from '../../interruption/deadline-pacing.ts';
import { failedTermination } from '../events.ts';
import { instanceVisibleBy } from '../instance-visible-by.ts';
import type { Launches } from '../lifecycle/launches.ts';
import { NodeClaimMetrics } from '../metrics.ts';
import { writeClaimConditions } from '../write-claim-conditions.ts';
import { terminationDeadline, writtenDeadline } from './termination-deadline.ts';

export interface NodeClaimTerminationOptions extends ControllersOptions {
  readonly launches: Launches;
}

/** How often the cloud is asked whether a machine is gone. */
const POLL_MS = 5000;
/** An aborted launch has ended by then. */
const LAUNCH_STOP_MS = 1000;
/** A termination that takes longer is reported. */
const SLOW_MS = 10 * 60_000;

export class NodeClaimTermination {
  readonly name = 'nodeclaim.termination';
  readonly #options: NodeClaimTerminationOptions;
  readonly #metrics: NodeClaimMetrics;
  readonly #controller: InformedController;

  constructor(options: NodeClaimTerminationOptions) {
    this.#options = options;
    this.#metrics = new NodeClaimMetrics(options.metrics);
    const { nodeClaims, nodes } = options.state.informers;
    const isDeleted = ({ metadata }: NodeClaim): boolean => metadata.deletionTimestamp !== undefined;
    const nameOf = ({ metadata }: NodeClaim): string => metadata.name ?? '';
    // Only until its node is deleted: a slow call to the cloud must not occupy an urgent worker.
    const isUrgent = (claim: NodeClaim | undefined): boolean =>
      claimRetryWithinMs(claim, options.clock.now()) !== undefined &&
      nodes
        .byIndex(BY_PROVIDER_ID, claim?.status?.providerID ?? '')
        .some(({ metadata }) => metadata.deletionTimestamp === undefined);
    this.#controller = new InformedController(options, {
      name: this.name,
      concurrency: 100,
      urgent: { concurrency: 16, is: (name) => isUrgent(nodeClaims.get(name)) },
      backOff: { baseDelayMs: 100, maxDelayMs: 30_000 },
      retryWithinMs: (name) => claimRetryWithinMs(nodeClaims.get(name), options.clock.now()),
      listen: (queue) => [
        enqueueOn(nodeClaims, queue, (claim) => (isDeleted(claim) ? [nameOf(claim)] : [])),
        enqueueOn(nodes, queue, ({ spec }) =>
          nodeClaims
            .byIndex(BY_PROVIDER_ID, spec?.providerID ?? '')
            .filter(isDeleted)
            .map(nameOf),
        ),
      ],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(name: string, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { state, clouds, launches, writes } = this.#options;
    const known = writes.newest(state.informers.nodeClaims.get(name));
    if (known?.metadata.deletionTimestamp === undefined || !clouds.isOurs(known)) return undefined;
    if (!(known.metadata.finalizers ?? []).includes(FINALIZER_TERMINATION)) return undefined;
    // 1. Stop its launch.
    if (launches.stop(known.metadata.uid ?? '')) return { requeueAfterMs: LAUNCH_STOP_MS };
    // 2. Write the deadline before the node is deleted.
    const claim = await this.#withDeadline(known, signal);
    // 3. Delete the node, and wait until it is drained.
    const nodes = state.informers.nodes.byIndex(BY_PROVIDER_ID, claim.status?.providerID ?? '');
    await Promise.all(nodes.map((node) => this.#deleteNode(node, claim, signal)));
    // A node without our finalizer is not waited for.
    if (nodes.some(({ metadata }) => metadata.finalizers?.includes(FINALIZER_TERMINATION))) return undefined;
    // 4. Terminate the machine.
    return this.#terminate(claim, signal);
  }

  async #withDeadline(claim: NodeClaim, signal: AbortSignal): Promise<NodeClaim> {
    const deadline = terminationDeadline(claim);
    if (deadline === undefined || deadline === writtenDeadline(claim)) return claim;
    const annotations = { [ANNOTATION_TERMINATION_TIMESTAMP]: toTimestamp(deadline) };
    const { clock, writes } = this.#options;
    const limit = claimRequestTimeout(claim, clock.now());
    return writes.patch(NODE_CLAIMS, claim, { metadata: { annotations } }, { ...limit, signal });
  }

  async #deleteNode(node: Node, claim: NodeClaim, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const { uid, deletionTimestamp } = node.metadata;
    if (deletionTimestamp !== undefined || uid === undefined) return;
    try {
      const limit = claimRequestTimeout(claim, clock.now());
      await client.delete(NODES, keyOf(node), { ...limit, signal, preconditions: { uid } });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
    }
  }

  async #terminate(claim: NodeClaim, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { clock, clouds, recorder } = this.#options;
    let outcome: 'terminating' | 'gone';
    try {
      outcome = await this.#deleteMachine(claim, signal);
    } catch (error) {
      recorder.record(failedTermination(claim, asError(error).message));
      throw error;
    }
    const deletedAt = parseTimestamp(claim.metadata.deletionTimestamp) ?? clock.now();
    const unsettledMs = instanceVisibleBy(claim, clouds) - clock.now();
    if (outcome === 'gone' && unsettledMs <= 0) return this.#letGo(claim, signal);
    if (clock.now() - deletedAt >= SLOW_MS && outcome === 'terminating') {
      recorder.record(failedTermination(claim, 'the cloud has not terminated it after 10 minutes'));
    }
    if (outcome === 'terminating')
      await writeClaimConditions(this.#options, claim, [{ type: 'InstanceTerminating', status: 'True' }], signal);
    return { requeueAfterMs: outcome === 'gone' ? unsettledMs : POLL_MS };
  }

  /** A provider ID that was written by somebody else must not hide the machine that was launched for the claim. */
  async #deleteMachine(claim: NodeClaim, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const { clouds } = this.#options;
    const { providerID: _, ...byClaim } = machineOf(claim);
    try {
      return await clouds.delete(claim, machineOf(claim), signal);
    } catch (error) {
      if (!hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) throw error;
      return clouds.delete(claim, byClaim, signal);
    }
  }

  async #letGo(claim: NodeClaim, signal: AbortSignal): Promise<undefined> {
    const { clock, writes } = this.#options;
    const finalizers = (claim.metadata.finalizers ?? []).filter((name) => name !== FINALIZER_TERMINATION);
    await writes.patch(NODE_CLAIMS, claim, { metadata: { finalizers } }, { signal });
    const since = (time: string | undefined): number | undefined => {
      const at = parseTimestamp(time);
      return at === undefined ? undefined : (clock.now() - at) / 1000;
    };
    const instanceSeconds = since(conditionOf(claim, 'InstanceTerminating')?.lastTransitionTime);
    this.#metrics.terminated(claim, since(claim.metadata.deletionTimestamp) ?? 0, instanceSeconds);
  }
}
