/** AzureMachine: `spotVMOptions` makes a VM spot; its price is a quantity, -1 or none means up to the on-demand price. */
import { type MachineSettings, objectAt, type RawSpec, type SettingsProblem, textAt } from './machine-settings.ts';

export function azureMachineSettings(spec: RawSpec): MachineSettings {
  const options = objectAt(spec, 'spotVMOptions');
  const disk = objectAt(spec, 'osDisk') ?? {};
  const isEphemeral = objectAt(disk, 'diffDiskSettings')?.option === 'Local';
  // CAPZ's webhook fills in the same.
  const policy = textAt(options ?? {}, 'evictionPolicy') ?? (isEphemeral ? 'Delete' : 'Deallocate');
  const maxPrice =
    options?.maxPrice === undefined || `${options.maxPrice}` === '-1' ? undefined : `${options.maxPrice}`;
  const zone = textAt(spec, 'failureDomain');
  const instanceType = textAt(spec, 'vmSize');
  return {
    provider: 'azure',
    ...(instanceType !== undefined && { instanceType }),
    ...(zone !== undefined && { zone }),
    ...(options !== undefined && {
      spot: { ...(maxPrice !== undefined && { maxPrice }), staysWhenEvicted: policy === 'Deallocate' },
    }),
    problems: options !== undefined && isEphemeral ? [ephemeralProblem(policy)] : [],
  };
}

function ephemeralProblem(policy: string): SettingsProblem {
  return policy === 'Deallocate'
    ? {
        severity: 'refused',
        field: 'spotVMOptions.evictionPolicy',
        message:
          'is Deallocate, and a VM with an ephemeral disk cannot be deallocated: set it to Delete, or use a managed disk',
      }
    : {
        severity: 'warning',
        field: 'osDisk.diffDiskSettings',
        message: 'everything on the ephemeral disk is lost when the spot VM is evicted',
      };
}
