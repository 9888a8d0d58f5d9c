/** Checks an IBMNodeClass against IBM Cloud: one condition for each resource that a launch needs. */
import {
  IBM_CONDITION_SPOT,
  type IBMNodeClass,
  type IBMNodeClassSpec,
  type IBMNodeClassStatus,
} from '../../../apis/ibm/ibm-node-class.ts';
import type { ConditionChange } from '../../../apis/karpenter/conditions.ts';
import type { AccountClient } from '../api/account-client.ts';
import type { VpcClient } from '../api/vpc-client.ts';
import type { VpcImage } from '../api/vpc-types.ts';
import type { MachineShape } from '../profiles/machine-shape.ts';
import { allowedShapes } from './allowed-shapes.ts';
import { type ChosenImage, imageByName, imageBySelector } from './choose-image.ts';
import { chooseSubnets } from './choose-subnets.ts';
import { spotConstraint } from './spot-constraint.ts';

export interface CheckOptions {
  readonly vpc: VpcClient;
  readonly account: AccountClient;
  readonly shapes: readonly MachineShape[];
  readonly machinesIn: (subnetId: string) => number;
  /** From the options; used if the class names none. */
  readonly resourceGroup?: string | undefined;
}

/** The result of a check: conditions and status fields to write. */
export interface NodeClassFindings {
  readonly conditions: readonly ConditionChange[];
  readonly status: Partial<Omit<IBMNodeClassStatus, 'conditions'>>;
}

interface FoundSubnets {
  readonly selected: readonly { readonly id: string; readonly zone: string }[];
  readonly eligible: readonly string[];
}

type Problem = { readonly reason: string; readonly message: string };
const isProblem = (found: object): found is Problem => 'reason' in found && 'message' in found;

/** Runs all checks. Rejects only if IBM Cloud does not answer. */
export async function checkNodeClass(
  { spec }: IBMNodeClass,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<NodeClassFindings> {
  const { vpc, shapes } = options;
  const [validation, network, groups, image, subnets, placementKind] = await Promise.all([
    validationProblem(spec, options, signal),
    vpc.getVpc(spec.vpc, signal),
    securityGroups(spec, vpc, signal),
    chosenImage(spec, vpc, signal),
    subnetsOf(spec, options, signal),
    given(spec.placementTarget) ? vpc.placementTargetKind(spec.placementTarget, signal) : undefined,
  ]);
  const architecture = isProblem(image) ? undefined : architectureOf(image);
  const allowed = allowedShapes(spec, shapes, architecture);
  const spot = spotConstraint({ spec, placementKind, shapes: allowed });
  const profile: Problem | undefined =
    allowed.length > 0 || shapes.length === 0
      ? undefined
      : {
          reason: 'NoInstanceTypes',
          message:
            'no profile of the region fits spec.instanceProfile, spec.instanceRequirements and the architecture of the image',
        };
  const target: Problem | undefined =
    given(spec.placementTarget) && placementKind === undefined
      ? {
          reason: 'PlacementTargetNotFound',
          message: `spec.placementTarget ${spec.placementTarget} is neither a placement group nor a dedicated host or host group`,
        }
      : undefined;
  const invalid = isProblem(validation) ? validation : (profile ?? target);
  const missingVpc: Problem = {
    reason: 'VPCNotFound',
    message: `spec.vpc ${spec.vpc} does not exist in ${spec.region}`,
  };
  return {
    conditions: [
      condition('ValidationSucceeded', invalid),
      condition('VPCReady', network === undefined ? missingVpc : undefined),
      condition('SubnetsReady', isProblem(subnets) ? subnets : undefined),
      condition('SecurityGroupsReady', isProblem(groups) ? groups : undefined),
      condition('ImageReady', isProblem(image) ? image : undefined),
      spot === undefined
        ? { type: IBM_CONDITION_SPOT, status: 'True' }
        : { type: IBM_CONDITION_SPOT, status: 'False', reason: spot.reason, message: spot.message },
    ],
    status: {
      ...(invalid === undefined ? {} : { validationError: invalid.message }),
      ...(spec.instanceRequirements === undefined
        ? {}
        : { selectedInstanceTypes: allowed.map(({ name }) => name).sort() }),
      ...(isProblem(subnets)
        ? {}
        : {
            selectedSubnets: subnets.selected.map(({ id }) => id),
            resolvedZones: subnets.selected.map(({ zone }) => zone),
            eligibleSubnets: [...subnets.eligible].sort(),
          }),
      ...(isProblem(groups) ? {} : { resolvedSecurityGroups: [...groups] }),
      ...(isProblem(image) ? {} : { resolvedImageID: image.id }),
      ...(architecture === undefined ? {} : { resolvedArchitecture: architecture }),
      ...(isProblem(validation) ? {} : { resolvedResourceGroup: validation.resourceGroup }),
      ...(placementKind === undefined ? {} : { placementTargetKind: placementKind }),
    },
  };
}

function condition(type: string, problem: Problem | undefined): ConditionChange {
  return problem === undefined ? { type, status: 'True' } : { type, status: 'False', ...problem };
}

async function validationProblem(
  spec: IBMNodeClassSpec,
  { vpc, account, resourceGroup }: CheckOptions,
  signal: AbortSignal,
): Promise<Problem | { readonly resourceGroup: string }> {
  if (spec.bootstrapMode === 'iks-api' || (spec.bootstrapMode === 'auto' && given(spec.iksClusterID)))
    return {
      reason: 'IKSNotSupported',
      message:
        'workers of an IKS worker pool are chosen by IKS when the pool is resized, and are never spot: launch machines with bootstrapMode cloud-init, or let the IKS cluster autoscaler resize the pool',
    };
  if ((await vpc.getRegion(spec.region, signal))?.status !== 'available')
    return {
      reason: 'RegionNotAvailable',
      message: `spec.region ${spec.region} is not a region that the account can use now`,
    };
  for (const key of spec.sshKeys ?? [])
    if ((await vpc.getKey(key, signal)) === undefined)
      return { reason: 'SSHKeyNotFound', message: `spec.sshKeys: there is no key ${key} in ${spec.region}` };
  const asked = given(spec.resourceGroup) ? spec.resourceGroup : resourceGroup;
  if (asked === undefined)
    return {
      reason: 'ResourceGroupMissing',
      message:
        'spec.resourceGroup is not given, and neither is --ibm-resource-group: name the group that machines belong to',
    };
  const id = await account.resourceGroupId(asked, signal);
  if (id === undefined)
    return {
      reason: 'ResourceGroupNotFound',
      message: `spec.resourceGroup ${asked}: there is no resource group of that name`,
    };
  return { resourceGroup: id };
}

async function securityGroups(
  spec: IBMNodeClassSpec,
  vpc: VpcClient,
  signal: AbortSignal,
): Promise<Problem | readonly string[]> {
  const asked = spec.securityGroups ?? [];
  if (asked.length === 0) {
    const found = await vpc.getVpc(spec.vpc, signal);
    return found === undefined
      ? {
          reason: 'VPCNotFound',
          message: `spec.vpc ${spec.vpc} does not exist, so that there is no default security group`,
        }
      : [found.default_security_group.id];
  }
  for (const id of asked) {
    const group = await vpc.getSecurityGroup(id, signal);
    if (group === undefined)
      return {
        reason: 'SecurityGroupNotFound',
        message: `spec.securityGroups: there is no group ${id} in ${spec.region}`,
      };
    if (group.vpc.id !== spec.vpc)
      return {
        reason: 'SecurityGroupOfOtherVPC',
        message: `spec.securityGroups: ${id} belongs to VPC ${group.vpc.id}, not to spec.vpc ${spec.vpc}`,
      };
  }
  return [...asked].sort();
}

const IMAGE_ID = /^r[0-9]+-[0-9a-f]{8}-/;

async function chosenImage(spec: IBMNodeClassSpec, vpc: VpcClient, signal: AbortSignal): Promise<Problem | VpcImage> {
  let chosen: ChosenImage;
  if (spec.imageSelector !== undefined) {
    chosen = imageBySelector(spec.imageSelector, [
      ...(await vpc.listImages('public', signal)),
      ...(await vpc.listImages('private', signal)),
    ]);
  } else {
    const { image: name = '' } = spec;
    const known = IMAGE_ID.test(name) ? await vpc.getImage(name, signal) : undefined;
    const images =
      known === undefined
        ? [...(await vpc.listImages('public', signal)), ...(await vpc.listImages('private', signal))]
        : [known];
    chosen = imageByName(name, images);
  }
  return 'image' in chosen ? chosen.image : { reason: 'ImageNotFound', message: chosen.problem };
}

function architectureOf({ operating_system: os, name }: VpcImage): string | undefined {
  return os?.architecture ?? /-(amd64|arm64|s390x)(?:-|$)/.exec(name)?.[1];
}

async function subnetsOf(
  spec: IBMNodeClassSpec,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<Problem | FoundSubnets> {
  const { vpc, account, machinesIn } = options;
  const subnets = await vpc.listSubnets(spec.vpc, signal);
  const tags = new Map<string, readonly string[]>();
  if (Object.keys(spec.placementStrategy?.subnetSelection?.requiredTags ?? {}).length > 0)
    for (const { id, crn } of subnets) tags.set(id, await account.tagsOf(crn, signal));
  const chosen = chooseSubnets({ spec, subnets, machinesIn, tagsOf: (id) => tags.get(id) ?? [] });
  if ('problem' in chosen) return { reason: 'NoSubnet', message: chosen.problem };
  return {
    selected: chosen.subnets.map(({ id, zone }) => ({ id, zone: zone.name })),
    eligible: chosen.eligible.map(({ id }) => id),
  };
}

function given(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
