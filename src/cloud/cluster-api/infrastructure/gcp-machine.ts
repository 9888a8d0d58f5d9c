/** GCPMachine: `provisioningModel: Spot`, or `preemptible`, whose instances end after a day. */
import { type MachineSettings, type RawSpec, textAt } from './machine-settings.ts';

/** After which Compute Engine ends a preemptible instance. */
export const PREEMPTIBLE_ENDS_AFTER_MS = 24 * 3_600_000;

export function gcpMachineSettings(spec: RawSpec): MachineSettings {
  const model = textAt(spec, 'provisioningModel');
  const preemptible = spec.preemptible === true;
  const zone = textAt(spec, 'zone') ?? textAt(spec, 'failureDomain');
  const instanceType = textAt(spec, 'instanceType');
  // CAPG has no field for the termination action: an instance that is preempted stays, stopped.
  const spot =
    model === 'Spot'
      ? { staysWhenEvicted: true }
      : preemptible
        ? { staysWhenEvicted: true, endsAfterMs: PREEMPTIBLE_ENDS_AFTER_MS }
        : undefined;
  return {
    provider: 'gcp',
    ...(instanceType !== undefined && { instanceType }),
    ...(zone !== undefined && { zone }),
    ...(spot !== undefined && { spot }),
    problems:
      model !== undefined && model !== 'Spot' && model !== 'Standard'
        ? [{ severity: 'refused', field: 'provisioningModel', message: `is ${model}: it must be Standard or Spot` }]
        : [],
  };
}
