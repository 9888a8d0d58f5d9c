/** What a refusal of Compute Engine means: no stock, a quota, a permission, too many requests, or trouble of its own. */
import type { RankedOffering } from '../../engine/solution.ts';
import type { Refusal } from '../cloud.ts';
import type { MachineShape } from '../machine-shape.ts';
import { nameOf, type OfferingPattern } from '../offering-key.ts';
import { type RefusalKind, refusalError } from '../thin/refusal-error.ts';
import { ComputeRefusal } from './compute-api.ts';

/** Only this says that an instance is gone: an image, a subnet or a project that is not there is a 404 as well. */
const NO_INSTANCE = /\/instances\/[^']*' was not found/;

/** Sorts a refusal by code and text; the codes of operations and of bodies are different ones. */
export function computeFailureKind({ status, errors }: ComputeRefusal): RefusalKind {
  const text = errors.map(({ code, message }) => `${code} ${message}`).join('\n');
  if (status === 429) return 'throttled';
  if (/RESOURCE_POOL_EXHAUSTED|currently unavailable in the .* zone|IP_SPACE_EXHAUSTED/.test(text)) return 'capacity';
  if (/QUOTA/i.test(text)) return 'quota';
  if (/alreadyExists/.test(text) || status === 409) return 'exists';
  if (/cannot be used by|does not support|Invalid value for field 'resource\.machineType'/.test(text))
    return 'unsupported';
  if (status === 404) return NO_INSTANCE.test(text) ? 'not-found' : 'invalid';
  if (status === 401) return 'unauthenticated';
  if (status === 403 || /PERMISSIONS_ERROR|CONDITION_NOT_MET/.test(text)) return 'denied';
  return status === 400 && !/RESOURCE_NOT_READY|INTERNAL_ERROR/.test(text) ? 'invalid' : 'trouble';
}

/** The error that controllers know for a refusal; other errors stay as they are. */
export function computeFailure(operation: string, claim: string, error: unknown): unknown {
  if (!(error instanceof ComputeRefusal)) return error;
  return refusalError(computeFailureKind(error), { operation, claim, refusal: error });
}

/** The offerings that a refused insert makes unavailable. Stock is counted by type, zone and model, quotas by a metric of the region. */
export function refusedByCompute(
  offering: RankedOffering,
  refusal: ComputeRefusal,
  shapes: ReadonlyMap<string, MachineShape>,
): Omit<Refusal, 'message'> {
  const kind = computeFailureKind(refusal);
  if (kind === 'quota') return { offering: underQuota(offering, refusal.message, shapes), cause: 'quota' };
  return { offering: nameOf(offering), cause: kind === 'unsupported' ? 'unsupported' : 'capacity' };
}

/** CPUs are counted by family, GPUs by model, and disks, addresses and preemptible CPUs for all types together. */
function underQuota(
  { capacityType, instanceType }: RankedOffering,
  message: string,
  shapes: ReadonlyMap<string, MachineShape>,
): OfferingPattern {
  const { family, accelerator } = shapes.get(instanceType) ?? {};
  const isGpu = /GPUS\b/.test(message);
  if (!isGpu && (!/CPUS\b/.test(message) || /\b(PREEMPTIBLE_CPUS|CPUS_ALL_REGIONS)\b/.test(message)))
    return { capacityType };
  const counted = [...shapes.values()].filter((shape) =>
    isGpu ? shape.accelerator?.model === accelerator?.model : shape.family === family,
  );
  return { capacityType, instanceTypes: new Set([instanceType, ...counted.map(({ name }) => name)]) };
}
