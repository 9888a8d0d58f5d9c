/** Interprets the answer of CreateFleet. EC2 answers 200 even if nothing was launched, and may report refusals beside an instance. Pure. */
import type { CreateFleetCommandOutput, CreateFleetError } from '@aws-sdk/client-ec2';
import { SpindriftError } from '../../../platform/errors.ts';
import type { Refusal } from '../../cloud.ts';
import { type FleetErrorMeaning, fleetErrorMeaning } from './fleet-error.ts';
import type { LaunchStep } from './launch-step.ts';

export interface LaunchedInstance {
  readonly instanceId: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly subnetId?: string;
  readonly imageId?: string;
}

export type FleetAnswer =
  | {
      readonly kind: 'launched';
      readonly instance: LaunchedInstance;
      readonly refused: readonly Refusal[];
      readonly fullSubnets: readonly string[];
    }
  | { readonly kind: 'refused'; readonly refused: readonly Refusal[]; readonly fullSubnets: readonly string[] }
  /** The launch template is gone: create it and try again. */
  | { readonly kind: 'template-gone' };

/** Throws if nothing was launched and no other offering would help. */
export function fleetAnswer(output: CreateFleetCommandOutput, step: LaunchStep): FleetAnswer {
  const errors = (output.Errors ?? []).map((error) => ({ error, meaning: meaningOf(error) }));
  const refused = errors.flatMap(({ error, meaning }) => refusalOf(error, meaning, step));
  const fullSubnets = errors.flatMap(({ error, meaning }) =>
    meaning.kind === 'subnet' ? (error.LaunchTemplateAndOverrides?.Overrides?.SubnetId ?? []) : [],
  );
  const instance = instanceOf(output);
  if (instance !== undefined) return { kind: 'launched', instance, refused, fullSubnets };
  if (refused.length > 0 || fullSubnets.length > 0) return { kind: 'refused', refused, fullSubnets };
  if (errors.some(({ meaning }) => meaning.kind === 'template')) return { kind: 'template-gone' };
  throw failure(errors);
}

function meaningOf({ ErrorCode = '', ErrorMessage = '' }: CreateFleetError): FleetErrorMeaning {
  return fleetErrorMeaning(ErrorCode, ErrorMessage);
}

function instanceOf({ Instances: fleets = [] }: CreateFleetCommandOutput): LaunchedInstance | undefined {
  const fleet = fleets.find(({ InstanceIds = [] }) => InstanceIds.length > 0);
  const [instanceId] = fleet?.InstanceIds ?? [];
  if (fleet === undefined || instanceId === undefined) return undefined;
  const overrides = fleet.LaunchTemplateAndOverrides?.Overrides;
  return {
    instanceId,
    instanceType: fleet.InstanceType ?? overrides?.InstanceType ?? '',
    zone: overrides?.AvailabilityZone ?? '',
    ...(overrides?.SubnetId === undefined ? {} : { subnetId: overrides.SubnetId }),
    ...(overrides?.ImageId === undefined ? {} : { imageId: overrides.ImageId }),
  };
}

function refusalOf(error: CreateFleetError, meaning: FleetErrorMeaning, step: LaunchStep): readonly Refusal[] {
  const { capacityType, reservationId } = step;
  const { InstanceType: instanceType, AvailabilityZone: zone } = error.LaunchTemplateAndOverrides?.Overrides ?? {};
  const message = `${error.ErrorCode}: ${error.ErrorMessage}`;
  const where = {
    ...(instanceType === undefined ? {} : { instanceType }),
    ...(zone === undefined ? {} : { zone }),
  };
  if (meaning.kind === 'all-spot') return [{ offering: { capacityType: 'spot' }, cause: meaning.cause, message }];
  if (meaning.kind === 'reservation' || (meaning.kind === 'offering' && reservationId !== undefined)) {
    const offering = reservationId === undefined ? { capacityType, ...where } : { reservationId };
    return [{ offering, cause: 'capacity', message }];
  }
  if (meaning.kind !== 'offering') return [];
  // A quota applies to the whole region.
  const { zone: _, ...everywhere } = where;
  return [
    { offering: { capacityType, ...(meaning.cause === 'quota' ? everywhere : where) }, cause: meaning.cause, message },
  ];
}

function failure(
  errors: readonly { readonly error: CreateFleetError; readonly meaning: FleetErrorMeaning }[],
): SpindriftError {
  const operation = 'ec2:CreateFleet';
  const terminal = errors.find(({ meaning }) => meaning.kind === 'terminal');
  if (terminal?.meaning.kind === 'terminal') {
    const { reason, fix } = terminal.meaning;
    const problem = `${said(terminal.error)} (${fix})`;
    return new SpindriftError(reason === 'Unauthorized' ? 'CLOUD_DENIED' : 'CLOUD_REFUSED', {
      operation,
      problem,
      reason,
    });
  }
  const [first] = errors;
  const problem = first === undefined ? 'it launched nothing and said nothing' : said(first.error);
  return new SpindriftError('CLOUD_UNAVAILABLE', { operation, problem });
}

function said({ ErrorCode = '', ErrorMessage = '' }: CreateFleetError): string {
  return `${ErrorCode}: ${ErrorMessage.replace(/ Encoded authorization failure message: .*/s, '')}`;
}
