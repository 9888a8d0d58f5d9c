/** What the controller of node classes writes for an IBMNodeClass: what was found, or why IBM Cloud does not let us look. */
import type { IBMNodeClass } from '../../../apis/ibm/ibm-node-class.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import type { NodeClassResolution } from '../../node-class/node-class-controller.ts';
import { type CheckOptions, checkNodeClass, type NodeClassFindings } from './check-node-class.ts';

/** Fields of the status that are ours: one that was not found is taken away. */
const FIELDS = [
  'validationError',
  'selectedInstanceTypes',
  'selectedSubnets',
  'resolvedZones',
  'eligibleSubnets',
  'resolvedSecurityGroups',
  'resolvedImageID',
  'resolvedArchitecture',
  'resolvedResourceGroup',
  'placementTargetKind',
] as const;

/** A cloud that does not answer changes nothing: that is thrown. One that refuses us is a condition of the class. */
export async function resolveNodeClass(
  nodeClass: IBMNodeClass,
  options: CheckOptions,
  now: EpochMs,
  signal: AbortSignal,
): Promise<NodeClassResolution> {
  const { conditions, status } = await findings(nodeClass, options, signal);
  const found = Object.fromEntries(FIELDS.map((field) => [field, status[field]]));
  const before = Object.fromEntries(FIELDS.map((field) => [field, nodeClass.status?.[field]]));
  // The time is that of the last check that found something new: a status that changes with every look tells nobody anything.
  const known = JSON.stringify(found) === JSON.stringify(before) ? nodeClass.status?.lastValidationTime : undefined;
  return { conditions, status: { ...found, lastValidationTime: known ?? toTimestamp(now) } };
}

async function findings(
  nodeClass: IBMNodeClass,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<NodeClassFindings> {
  try {
    return await checkNodeClass(nodeClass, options, signal);
  } catch (error) {
    if (!hasCode(error, 'CLOUD_DENIED', 'CLOUD_REFUSED')) throw error;
    const { message } = asError(error);
    const change = { type: 'ValidationSucceeded', status: 'False', reason: 'CloudRefused', message } as const;
    const { conditions: _, lastValidationTime: __, ...kept } = nodeClass.status ?? {};
    return { conditions: [change], status: { ...kept, validationError: message } };
  }
}
