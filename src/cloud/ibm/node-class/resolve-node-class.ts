/** The status of an IBMNodeClass: the results of its checks, or why IBM Cloud could not be queried. */
import type { IBMNodeClass } from '../../../apis/ibm/ibm-node-class.ts';
import { type EpochMs, toTimestamp } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import type { NodeClassResolution } from '../../node-class/node-class-controller.ts';
import { type CheckOptions, checkNodeClass, type NodeClassFindings } from './check-node-class.ts';

/** Status fields set here: a field without a result is removed. */
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

/** If IBM Cloud does not answer, this throws and the status stays. If it denies access, that becomes a condition. */
export async function resolveNodeClass(
  nodeClass: IBMNodeClass,
  options: CheckOptions,
  now: EpochMs,
  signal: AbortSignal,
): Promise<NodeClassResolution> {
  const { conditions, status } = await findings(nodeClass, options, signal);
  const found = Object.fromEntries(FIELDS.map((field) => [field, status[field]]));
  const before = Object.fromEntries(FIELDS.map((field) => [field, nodeClass.status?.[field]]));
  // The time of the last check with a new result, so that the status does not change with every check.
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
