/**
 * Carries out requested reboots of unhealthy nodes: taints and drains the node, has the cloud reboot the machine, and waits until the node is
 * ready again. A failed reboot ends in a replacement. All state is on the claim, so a restart loses nothing.
 */
import { conditionOf, isTrue } from '../../../apis/karpenter/conditions.ts';
import { TAINT_REBOOTING } from '../../../apis/karpenter/labels.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { NODES, type Node } from '../../../apis/kubernetes/node.ts';
import type { Pod } from '../../../apis/kubernetes/pod.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { parseTimestamp } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import { BY_PROVIDER_ID } from '../../../state/cluster-informers.ts';
import { isReschedulable } from '../../../state/cluster-state.ts';
import { isDrainable } from '../../../state/is-drainable.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import type { EvictionQueue } from '../../node/termination/eviction-queue.ts';
import { deleteClaim } from '../delete-claim.ts';
import { nodeRebooted, nodeRebootFailed, nodeRebooting } from '../events.ts';
import { writeClaimConditions } from '../write-claim-conditions.ts';
import { ANNOTATION_PRE_BOOT_ID, bootOf, decideReboot, REBOOT_ISSUED } from './decide-reboot.ts';
import { type RebootMetrics, type RebootResult, rebootMetrics } from './reboot-metrics.ts';

export interface NodeClaimRebootOptions extends ControllersOptions {
  readonly evictions: Pick<EvictionQueue, 'add'>;
}

const LOOK_AGAIN_MS = 15_000;
/** Pods that were refused or came late are added to the eviction queue again. */
const DRAIN_AGAIN_MS = 5000;

export class NodeClaimReboot {
  readonly name = 'nodeclaim.reboot';
  readonly #options: NodeClaimRebootOptions;
  readonly #controller: InformedController;
  readonly #metrics: RebootMetrics;
  /** When the cloud accepted the reboot, by the UID of the claim; by the clock's `elapsed`. */
  readonly #issued = new Map<string, number>();

  constructor(options: NodeClaimRebootOptions) {
    this.#options = options;
    this.#metrics = rebootMetrics(options.metrics);
    const { nodeClaims, nodes } = options.state.informers;
    const rebooting = (claim: NodeClaim): string[] => (isTrue(claim, 'Rebooting') ? [claim.metadata.name ?? ''] : []);
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => [
        enqueueOn(nodeClaims, queue, rebooting),
        enqueueOn(nodes, queue, ({ spec }) =>
          nodeClaims.byIndex(BY_PROVIDER_ID, spec?.providerID ?? '').flatMap(rebooting),
        ),
      ],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(name: string, context: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clock, clouds, state, writes } = this.#options;
    const claim = writes.newest(state.informers.nodeClaims.get(name));
    // Karpenter beside us uses the same condition on its claims.
    if (claim === undefined || !clouds.isOurs(claim)) return undefined;
    const [cached] = state.informers.nodes.byIndex(BY_PROVIDER_ID, claim.status?.providerID ?? '');
    const node = cached && writes.newest(cached);
    const pods = node === undefined ? [] : state.podsOn(node.metadata.name ?? '').filter(isLeaver);
    const step = decideReboot({ claim, node, pods: pods.length, now: clock.now() });
    switch (step.kind) {
      case 'none':
        return undefined;
      case 'drain':
        await this.#drain(node as Node, pods, context.signal);
        return { requeueAfterMs: Math.min(step.forMs, DRAIN_AGAIN_MS) };
      case 'reboot':
        return this.#reboot(claim, node as Node, context);
      case 'wait':
        return { requeueAfterMs: Math.min(step.forMs, LOOK_AGAIN_MS) };
      case 'back':
        return this.#back(claim, node as Node, context);
      case 'replace':
        return this.#replace(claim, step.why, 'recovery_timeout', context);
    }
  }

  /** Taints the node and evicts its pods. */
  async #drain(node: Node, pods: readonly Pod[], signal: AbortSignal): Promise<void> {
    await this.#close(node, signal);
    for (const pod of pods) this.#options.evictions.add(pod);
  }

  async #reboot(claim: NodeClaim, node: Node, context: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { clouds, recorder, writes } = this.#options;
    const { signal, logger } = context;
    await this.#close(node, signal);
    const preBoot = claim.metadata.annotations?.[ANNOTATION_PRE_BOOT_ID];
    const noted =
      preBoot === undefined
        ? await writes.patch(
            NODE_CLAIMS,
            claim,
            { metadata: { annotations: { [ANNOTATION_PRE_BOOT_ID]: bootOf(node) } } },
            { signal },
          )
        : claim;
    const requested = conditionOf(claim, 'Rebooting')?.lastTransitionTime ?? '';
    try {
      await clouds.reboot(noted, `${claim.metadata.uid}/${requested}`, signal);
    } catch (error) {
      if (!hasCode(error, 'CLOUD_REBOOT_REFUSED', 'CLOUD_INSTANCE_NOT_FOUND')) throw error;
      return this.#replace(noted, error.message, 'provider_error', context);
    }
    this.#issued.set(claim.metadata.uid ?? '', this.#options.clock.elapsed());
    logger.info('node reboots', { Node: { name: node.metadata.name } });
    recorder.record(nodeRebooting(noted));
    const message = 'the cloud reboots the machine';
    await writeClaimConditions(
      this.#options,
      noted,
      [{ type: 'Rebooting', status: 'True', reason: REBOOT_ISSUED, message }],
      signal,
    );
    return { requeueAfterMs: LOOK_AGAIN_MS };
  }

  /** Removes the taint, and closes the reboot on the claim. */
  async #back(claim: NodeClaim, node: Node, { signal, logger }: ReconcileContext): Promise<undefined> {
    const { recorder, writes } = this.#options;
    const { taints = [] } = node.spec ?? {};
    if (taints.some(({ key }) => key === TAINT_REBOOTING.key)) {
      const left = taints.filter(({ key }) => key !== TAINT_REBOOTING.key);
      await writes.patch(NODES, node, { spec: { taints: left } }, { signal });
    }
    const annotations = { [ANNOTATION_PRE_BOOT_ID]: null };
    const noted = await writes.patch(NODE_CLAIMS, claim, { metadata: { annotations } }, { signal });
    // The condition last: while it is True, whatever failed before it is done again.
    const change = { type: 'Rebooting', status: 'False' as const, reason: 'RebootSucceeded' };
    await writeClaimConditions(this.#options, noted, [change], signal);
    logger.info('node is back from its reboot', { Node: { name: node.metadata.name } });
    recorder.record(nodeRebooted(claim));
    this.#count(claim, 'succeeded');
  }

  async #replace(
    claim: NodeClaim,
    why: string,
    result: RebootResult,
    { signal, logger }: ReconcileContext,
  ): Promise<undefined> {
    logger.warn('node is replaced, as its reboot came to nothing', { why });
    this.#options.recorder.record(nodeRebootFailed(claim, why));
    await deleteClaim(this.#options.client, claim, signal);
    this.#count(claim, result);
  }

  async #close(node: Node, signal: AbortSignal): Promise<void> {
    const { taints = [] } = node.spec ?? {};
    if (taints.some(({ key }) => key === TAINT_REBOOTING.key)) return;
    await this.#options.writes.patch(NODES, node, { spec: { taints: [...taints, TAINT_REBOOTING] } }, { signal });
  }

  #count(claim: NodeClaim, result: RebootResult): void {
    const since = parseTimestamp(conditionOf(claim, 'Rebooting')?.lastTransitionTime);
    const now = this.#options.clock.now();
    const seconds = (now - (since ?? now)) / 1000;
    this.#metrics.reboots.add({ result });
    this.#metrics.duration.observe({ result }, seconds);
    const issued = this.#issued.get(claim.metadata.uid ?? '');
    this.#issued.delete(claim.metadata.uid ?? '');
    if (issued !== undefined && result === 'succeeded')
      this.#metrics.recovery.observe({}, (this.#options.clock.elapsed() - issued) / 1000);
  }
}

/** Whether a pod is evicted before a reboot; DaemonSet and static pods stay. */
function isLeaver(pod: Pod): boolean {
  return isReschedulable(pod) && isDrainable(pod);
}
