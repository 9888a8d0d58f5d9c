/** Sets the conditions `Drifted` and `Consolidatable` of claims. */
import { isTrue, withCondition, withoutCondition } from '../../../apis/karpenter/conditions.ts';
import { LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import { NODE_CLAIM_CONDITIONS, NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { NodePool } from '../../../apis/karpenter/node-pool.ts';
import type { Condition } from '../../../apis/kubernetes/object.ts';
import { nodeClassVersion } from '../../../cloud/node-class-version.ts';
import type { ReconcileContext, ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import { asError } from '../../../platform/errors.ts';
import { BY_POOL } from '../../../state/cluster-informers.ts';
import { consolidatableAt } from '../../../state/node-hold.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { InformedController } from '../../informed-controller.ts';
import { nodeClassOf } from '../../nodepool/pools-of-node-class.ts';
import { type Drift, driftFromMarket, driftFromPool } from './decide-drift.ts';

/** How often the cloud is asked whether a machine has drifted from its node class. */
const PERIOD_MS = 300_000;

interface Answer {
  readonly drift: Drift | undefined;
  readonly askedAt: number;
  /** The version of the node class at that time. */
  readonly nodeClass: string;
}

export class NodeClaimDisruption {
  readonly name = 'nodeclaim.disruption';
  readonly #options: ControllersOptions;
  readonly #controller: InformedController;
  /** The cloud's latest answer, by the UID of the claim. */
  readonly #answers = new Map<string, Answer>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { informers } = options.state;
    const { nodeClaims, nodePools } = informers;
    const namesOf = (pool: string): string[] =>
      nodeClaims.byIndex(BY_POOL, pool).map(({ metadata }) => metadata.name ?? '');
    this.#controller = new InformedController(options, {
      name: this.name,
      listen: (queue) => [
        enqueueOn(nodeClaims, queue),
        enqueueOn(nodePools, queue, ({ metadata }) => namesOf(metadata.name ?? '')),
        ...[...informers.nodeClasses.values()].map((informer) =>
          enqueueOn(informer, queue, ({ kind, metadata }) =>
            nodeClaims.list().flatMap((claim) => {
              const { nodeClassRef } = claim.spec;
              return nodeClassRef.kind === kind && nodeClassRef.name === metadata.name
                ? [claim.metadata.name ?? '']
                : [];
            }),
          ),
        ),
        nodeClaims.addHandler({ deleted: ({ metadata }) => void this.#answers.delete(metadata.uid ?? '') }),
      ],
      reconcile: (name, context) => this.#reconcile(name, context),
    });
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#controller.run(signal);
  }

  async #reconcile(name: string, context: ReconcileContext): Promise<ReconcileResult | undefined> {
    const { state, clouds, writes, clock } = this.#options;
    const known = writes.newest(state.informers.nodeClaims.get(name));
    if (known === undefined || known.metadata.deletionTimestamp !== undefined) return undefined;
    if (!clouds.isOurs(known) || !isTrue(known, 'Launched')) return undefined;
    const pool = state.informers.nodePools.get(known.metadata.labels?.[LABEL_NODE_POOL] ?? '');
    if (pool === undefined) return undefined;
    const drift = await this.#drift(known, pool, context);
    // The claim may have changed while the cloud answered.
    const claim = writes.newest(state.informers.nodeClaims.get(name));
    if (claim === undefined || claim.metadata.uid !== known.metadata.uid) return undefined;
    const consolidatableMs = isTrue(claim, 'Initialized') ? consolidatableAt(claim, pool) - clock.now() : PERIOD_MS;
    await this.#say(claim, drift, consolidatableMs <= 0, context.signal);
    return { requeueAfterMs: consolidatableMs > 0 ? Math.min(consolidatableMs, PERIOD_MS) : PERIOD_MS };
  }

  async #drift(claim: NodeClaim, pool: NodePool, { signal, logger }: ReconcileContext): Promise<Drift | undefined> {
    const drift = driftFromPool(claim, pool);
    if (drift !== undefined) return drift;
    const { clock, state } = this.#options;
    const { uid = '' } = claim.metadata;
    const nodeClass = nodeClassVersion(nodeClassOf(state.informers, claim.spec.nodeClassRef));
    const known = this.#answers.get(uid);
    const fresh = known?.nodeClass === nodeClass && clock.elapsed() - known.askedAt < PERIOD_MS;
    if (fresh) return known.drift;
    const askedAt = clock.elapsed();
    try {
      const answer = { drift: await this.#askCloud(claim, signal), askedAt, nodeClass };
      this.#answers.set(uid, answer);
      return answer.drift;
    } catch (error) {
      if (signal.aborted) throw error;
      // Without an answer the condition stays as it is.
      logger.warn('cannot tell whether the claim has drifted', { error: asError(error) });
      const drifted = claim.status?.conditions?.find(({ type, status }) => type === 'Drifted' && status === 'True');
      const before = drifted && { reason: drifted.reason ?? '', message: drifted.message ?? '' };
      this.#answers.set(uid, { drift: before, askedAt, nodeClass });
      return before;
    }
  }

  async #askCloud(claim: NodeClaim, signal: AbortSignal): Promise<Drift | undefined> {
    const { clouds } = this.#options;
    const types = await clouds.instanceTypes(claim.spec.nodeClassRef, signal);
    const drift = driftFromMarket(claim, types);
    if (drift !== undefined) return drift;
    return clouds.drift(claim, signal);
  }

  async #say(claim: NodeClaim, drift: Drift | undefined, consolidatable: boolean, signal: AbortSignal): Promise<void> {
    const { clock, writes } = this.#options;
    let conditions: readonly Condition[] = claim.status?.conditions ?? [];
    const set = (type: string, is: { reason: string; message: string } | undefined): void => {
      const object = { metadata: claim.metadata, status: { conditions } };
      conditions =
        is === undefined
          ? withoutCondition(object, type)
          : withCondition(NODE_CLAIM_CONDITIONS, object, { type, status: 'True', ...is }, clock.now());
    };
    set('Drifted', drift);
    set('Consolidatable', consolidatable ? { reason: 'Consolidatable', message: '' } : undefined);
    if (conditions === claim.status?.conditions) return;
    await writes.patch(NODE_CLAIMS, claim, { status: { conditions } }, { signal, subresource: 'status' });
  }
}
