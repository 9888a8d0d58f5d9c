/** Logs the steps of each claim: created, launched, registered, initialized, deleted. It changes nothing. */
import { isTrue } from '../../../apis/karpenter/conditions.ts';
import {
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_NODE_POOL,
  LABEL_ZONE,
} from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import { parseTimestamp } from '../../../platform/clock.ts';
import type { LogFields, Logger } from '../../../platform/logger.ts';
import { ANNOTATION_OFFERINGS, readOfferings } from '../../../state/planned-offerings.ts';
import type { ControllersOptions } from '../../controllers-options.ts';

/** The conditions that are logged when they become True. */
const STEPS = [
  ['Launched', 'launched NodeClaim'],
  ['Registered', 'registered NodeClaim'],
  ['Initialized', 'initialized NodeClaim'],
] as const;

export class NodeClaimDiary {
  readonly name = 'nodeclaim.diary';
  readonly #options: Pick<ControllersOptions, 'clock' | 'logger' | 'state'>;
  readonly #logger: Logger;

  constructor(options: Pick<ControllersOptions, 'clock' | 'logger' | 'state'>) {
    this.#options = options;
    this.#logger = options.logger.with({ controller: this.name });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodeClaims } = this.#options.state.informers;
    let known = false;
    const stop = nodeClaims.addHandler({
      // Claims that existed before are not new.
      added: (claim) => known && this.#logger.info('created NodeClaim', { ...named(claim), ...asked(claim) }),
      updated: (claim, old) => this.#changed(claim, old),
      deleted: (claim) =>
        this.#logger.info('deleted NodeClaim', { ...named(claim), ...machine(claim), ...this.#age(claim) }),
    });
    known = true;
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    stop();
  }

  #changed(claim: NodeClaim, old: NodeClaim): void {
    for (const [type, message] of STEPS) {
      if (!isTrue(claim, type) || isTrue(old, type)) continue;
      const details = type === 'Launched' ? machine(claim) : this.#age(claim);
      this.#logger.info(message, { ...named(claim), ...details });
    }
  }

  #age({ metadata }: NodeClaim): LogFields {
    const since = parseTimestamp(metadata.creationTimestamp);
    return since === undefined ? {} : { seconds: Math.round((this.#options.clock.now() - since) / 1000) };
  }
}

function named({ metadata, status }: NodeClaim): LogFields {
  const pool = metadata.labels?.[LABEL_NODE_POOL];
  return {
    NodeClaim: { name: metadata.name },
    ...(pool !== undefined && { NodePool: { name: pool } }),
    ...(status?.nodeName !== undefined && { Node: { name: status.nodeName } }),
  };
}

function asked({ metadata, spec }: NodeClaim): LogFields {
  return {
    requests: spec.resources?.requests ?? {},
    offerings: readOfferings(metadata.annotations?.[ANNOTATION_OFFERINGS]).length,
  };
}

/** The launched machine, and its price if known. */
function machine({ metadata, status }: NodeClaim): LogFields {
  const { labels = {}, annotations } = metadata;
  const instanceType = labels[LABEL_INSTANCE_TYPE];
  const zone = labels[LABEL_ZONE];
  const capacityType = labels[LABEL_CAPACITY_TYPE];
  const planned = readOfferings(annotations?.[ANNOTATION_OFFERINGS]).find(
    (one) => one.instanceType === instanceType && one.zone === zone && one.capacityType === capacityType,
  );
  return {
    ...(instanceType !== undefined && { instanceType }),
    ...(zone !== undefined && { zone }),
    ...(capacityType !== undefined && { capacityType }),
    ...(planned !== undefined && { pricePerHour: planned.price }),
    ...(status?.providerID !== undefined && { providerID: status.providerID }),
  };
}
