/** Launches a claim, and classifies the outcome. */
import { LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { Clouds } from '../../../cloud/clouds.ts';
import type { Launched } from '../../../cloud/launcher.ts';
import type { Launchers } from '../../../cloud/launchers.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import { ANNOTATION_OFFERINGS, readOfferings } from '../../../state/planned-offerings.ts';
import { offeringsFor } from './claim-offerings.ts';

export type LaunchOutcome =
  | Launched
  /** The claim is given up, and its pods are planned again. */
  | { readonly kind: 'no-capacity' | 'node-class-not-ready' | 'instance-gone'; readonly message: string }
  /** A failure that may pass, or that a person must fix: it is tried again. */
  | { readonly kind: 'failed'; readonly message: string };

/** Launches a claim from its planned offerings, or from all that its requirements allow if it has none. */
export async function launch(
  claim: NodeClaim,
  clouds: Pick<Clouds, 'instanceTypes'>,
  launchers: Pick<Launchers, 'launch'>,
  signal: AbortSignal,
): Promise<Launched> {
  const planned = readOfferings(claim.metadata.annotations?.[ANNOTATION_OFFERINGS]);
  const { metadata, spec } = claim;
  const sold = () => clouds.instanceTypes(spec.nodeClassRef, signal, metadata.labels?.[LABEL_NODE_POOL]);
  const offerings = planned.length > 0 ? planned : offeringsFor(claim, await sold());
  return launchers.launch(claim, offerings, signal);
}

/** The outcome of a launch that failed with this error. */
export function outcomeOf(error: unknown): LaunchOutcome {
  const { message } = asError(error);
  if (hasCode(error, 'CLOUD_INSUFFICIENT_CAPACITY', 'CLOUD_QUOTA_EXCEEDED')) return { kind: 'no-capacity', message };
  if (hasCode(error, 'CLOUD_NODE_CLASS_NOT_READY')) return { kind: 'node-class-not-ready', message };
  if (hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) return { kind: 'instance-gone', message };
  return { kind: 'failed', message };
}
