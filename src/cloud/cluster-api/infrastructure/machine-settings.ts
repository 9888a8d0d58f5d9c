/**
 * The settings of an instance in the spec of an AWSMachine, GCPMachine or AzureMachine, and whether it is spot:
 * the fields are the providers' own, and each provider spells spot differently. Kinds that we do not know say nothing.
 */
import { awsMachineSettings } from './aws-machine.ts';
import { azureMachineSettings } from './azure-machine.ts';
import { gcpMachineSettings } from './gcp-machine.ts';

export type Provider = 'aws' | 'gcp' | 'azure';

/** Something in the spec that does not go together. */
export interface SettingsProblem {
  /** `refused`: the cloud will not launch it. `warning`: it will, and it may surprise. */
  readonly severity: 'refused' | 'warning';
  /** The path below `spec`. */
  readonly field: string;
  readonly message: string;
}

export interface SpotSettings {
  /** USD per hour as written; absent means up to the on-demand price. */
  readonly maxPrice?: string;
  /** The cloud ends the instance after this long whatever happens. */
  readonly endsAfterMs?: number;
  /** Whether the instance stays, stopped and partly paid for, when it is taken back. */
  readonly staysWhenEvicted: boolean;
}

export interface MachineSettings {
  readonly provider?: Provider;
  readonly instanceType?: string;
  readonly zone?: string;
  /** Present when the instance may be taken back. */
  readonly spot?: SpotSettings;
  readonly problems: readonly SettingsProblem[];
}

/** The spec as it comes from the API server; no field is sure to be there or of the right type. */
export type RawSpec = Readonly<Record<string, unknown>>;

/** Reads the spec of an infrastructure machine, or `spec.template.spec` of a template. */
export function machineSettings(kind: string, spec: RawSpec): MachineSettings {
  switch (kind.replace(/Template$/, '')) {
    case 'AWSMachine':
      return awsMachineSettings(spec);
    case 'GCPMachine':
      return gcpMachineSettings(spec);
    case 'AzureMachine':
      return azureMachineSettings(spec);
    default:
      return { problems: [] };
  }
}

/**
 * Whether a machine runs on capacity that may be taken back. The provider's own word counts where it gives one: CAPA alone
 * writes `status.interruptible`, and not for `marketType: Spot`; CAPG and CAPZ have no such field.
 */
export function isInterruptible(kind: string, spec: RawSpec, status: RawSpec | undefined): boolean {
  const said = status?.interruptible;
  if (said !== undefined && typeof said !== 'boolean') {
    throw new TypeError(`status.interruptible of the ${kind} must be true or false, not ${JSON.stringify(said)}`);
  }
  return said === true || machineSettings(kind, spec).spot !== undefined;
}

/** A field that is an object. */
export function objectAt(spec: RawSpec, field: string): RawSpec | undefined {
  const value = spec[field];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RawSpec) : undefined;
}

/** A field that is a text with something in it. */
export function textAt(spec: RawSpec, field: string): string | undefined {
  const value = spec[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A field that is a list of objects; empty where it is not there. */
export function listAt(spec: RawSpec, field: string): readonly RawSpec[] {
  const value = spec[field];
  return Array.isArray(value) ? (value as readonly RawSpec[]) : [];
}
