/**
 * Keeps the status of IBMNodeClasses true: checks each against IBM Cloud when it changes and every few minutes, writes
 * conditions with their reasons, and holds a class that is deleted until no claim refers to it.
 */
import {
  IBM_NODE_CLASS_CONDITIONS,
  IBM_NODE_CLASSES,
  type IBMNodeClass,
  type IBMNodeClassStatus,
} from '../../../apis/ibm/ibm-node-class.ts';
import { type ConditionChange, type Conditioned, withCondition } from '../../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Condition } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { Controller, type ReconcileResult } from '../../../kube/controller.ts';
import { enqueueOn } from '../../../kube/enqueue.ts';
import type { Informer } from '../../../kube/informer.ts';
import { type Clock, type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { CloudController } from '../../cloud.ts';
import type { NodeClass } from '../../node-class-kind.ts';
import type { NodeClassFindings } from './check-node-class.ts';
import { IBM_NODE_CLASS_KIND } from './ibm-node-class-kind.ts';

export interface NodeClassControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeClasses: Informer<NodeClass>;
  readonly nodeClaims: Informer<NodeClaim>;
  readonly check: (nodeClass: IBMNodeClass, signal: AbortSignal) => Promise<NodeClassFindings>;
  readonly everyMs?: number;
}

/** Free addresses, images and groups change without telling anybody. */
const EVERY_MS = 5 * 60_000;
const WAIT_FOR_CLAIMS_MS = 10_000;

export class IbmNodeClassController implements CloudController {
  readonly name = 'ibm.nodeclass';
  readonly #options: NodeClassControllerOptions;

  constructor(options: NodeClassControllerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, nodeClasses } = this.#options;
    const controller = new Controller({
      name: this.name,
      clock,
      logger,
      concurrency: 4,
      reconcile: (key, { signal: limit }) => this.#reconcile(key, limit),
    });
    const stop = enqueueOn(nodeClasses, controller.queue);
    try {
      await controller.run(signal);
    } finally {
      stop();
    }
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { client, nodeClasses, nodeClaims, everyMs = EVERY_MS } = this.#options;
    const nodeClass = nodeClasses.get(name) as IBMNodeClass | undefined;
    if (nodeClass === undefined) return undefined;
    const { finalizer = '', resource, hash } = IBM_NODE_CLASS_KIND;
    const { finalizers = [], annotations = {}, resourceVersion, deletionTimestamp } = nodeClass.metadata;
    // 1. It goes: once no claim refers to it, and not before.
    if (deletionTimestamp !== undefined) {
      const inUse = nodeClaims
        .list()
        .some(({ spec }) => spec.nodeClassRef.kind === resource.kind && spec.nodeClassRef.name === name);
      if (inUse) return { requeueAfterMs: WAIT_FOR_CLAIMS_MS };
      if (finalizers.includes(finalizer)) {
        const body = { metadata: { resourceVersion, finalizers: finalizers.filter((one) => one !== finalizer) } };
        await client.patch(IBM_NODE_CLASSES, { name }, { type: 'merge', body }, { signal });
      }
      return undefined;
    }
    // 2. It is new or has changed: finalizer and hash first.
    const hashes =
      hash === undefined ? {} : { [hash.annotation]: hash.of(nodeClass), [hash.versionAnnotation]: hash.version };
    const unhashed = Object.entries(hashes).some(([key, value]) => annotations[key] !== value);
    if (unhashed || !finalizers.includes(finalizer)) {
      const body = {
        metadata: { resourceVersion, annotations: hashes, finalizers: [...new Set([...finalizers, finalizer])] },
      };
      await client.patch(IBM_NODE_CLASSES, { name }, { type: 'merge', body }, { signal });
      return undefined;
    }
    // 3. What IBM Cloud has of it.
    const findings = await this.#check(nodeClass, signal);
    await this.#write(nodeClass, findings, signal);
    return { requeueAfterMs: everyMs };
  }

  /** A cloud that does not answer changes nothing; one that refuses us is a condition of the class. */
  async #check(nodeClass: IBMNodeClass, signal: AbortSignal): Promise<NodeClassFindings> {
    try {
      return await this.#options.check(nodeClass, signal);
    } catch (error) {
      if (!hasCode(error, 'CLOUD_DENIED', 'CLOUD_REFUSED')) throw error;
      const change: ConditionChange = {
        type: 'ValidationSucceeded',
        status: 'False',
        reason: 'CloudRefused',
        message: asError(error).message,
      };
      return { conditions: [change], status: { validationError: asError(error).message } };
    }
  }

  async #write(nodeClass: IBMNodeClass, findings: NodeClassFindings, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const { name = '', resourceVersion } = nodeClass.metadata;
    const status = statusAfter(nodeClass, findings, clock.now());
    const { lastValidationTime: _, ...before } = nodeClass.status ?? {};
    if (JSON.stringify(status) === JSON.stringify(before)) return;
    // Fields that are gone must be taken away by name.
    const gone = Object.keys(before).filter((key) => !(key in status));
    const body = {
      metadata: { resourceVersion },
      status: {
        ...Object.fromEntries(gone.map((key) => [key, null])),
        ...status,
        lastValidationTime: toTimestamp(clock.now()),
      },
    };
    await client.patch(IBM_NODE_CLASSES, { name }, { type: 'merge', body }, { subresource: 'status', signal });
  }
}

/** The status with what was found, without the time of the check. */
export function statusAfter(
  nodeClass: Conditioned,
  { conditions: changes, status }: NodeClassFindings,
  now: EpochMs,
): Omit<IBMNodeClassStatus, 'lastValidationTime'> {
  let conditions: readonly Condition[] = nodeClass.status?.conditions ?? [];
  for (const change of changes)
    conditions = withCondition(
      IBM_NODE_CLASS_CONDITIONS,
      { metadata: nodeClass.metadata, status: { conditions } },
      change,
      now,
    );
  const sorted = Object.entries(status).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...Object.fromEntries(sorted), conditions } as Omit<IBMNodeClassStatus, 'lastValidationTime'>;
}
