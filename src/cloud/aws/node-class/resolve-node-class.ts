/** Finds the resources that a node class selects: images, reservations, subnets, security groups, the instance profile. */
import { aliasOf, type Ec2NodeClass, type ReservationStatus } from '../../../apis/aws/ec2-node-class.ts';
import { type Clock, toTimestamp } from '../../../platform/clock.ts';
import type { ClusterDirectory } from '../cluster-directory.ts';
import { unsupportedAlias } from '../selectors/image-parameters.ts';
import type { Images } from '../selectors/images.ts';
import type { PlacementGroups } from '../selectors/placement-groups.ts';
import { type CapacityReservation, type CapacityReservations, isExpiring } from '../selectors/reservations.ts';
import type { SecurityGroups } from '../selectors/security-groups.ts';
import type { Subnets } from '../selectors/subnets.ts';
import { selectorText } from '../selectors/tag-filters.ts';
import type { InstanceProfiles } from './instance-profiles.ts';
import { failed, type Resolution, resolved, unresolved } from './resolution.ts';

/** More reservations than this are used but not listed in the status, as objects have a size limit. */
const MOST_RESERVATIONS = 500;

export interface ResolveOptions {
  readonly placementGroups: PlacementGroups;
  readonly clock: Clock;
  readonly directory: ClusterDirectory;
  readonly images: Images;
  readonly subnets: Subnets;
  readonly securityGroups: SecurityGroups;
  readonly reservations: CapacityReservations;
  readonly profiles: InstanceProfiles;
  /** IAM cannot be reached: the profile of the class is not checked. */
  readonly isolated: boolean;
}

/** Resolves each part on its own, so that a failing part does not hide the rest. */
export function resolveNodeClass(
  nodeClass: Ec2NodeClass,
  options: ResolveOptions,
  signal: AbortSignal,
): Promise<Resolution[]> {
  return Promise.all([
    part('AMIsReady', 'AMIsResolutionFailed', () => images(nodeClass, options, signal)),
    part('CapacityReservationsReady', 'CapacityReservationsResolutionFailed', () =>
      reservations(nodeClass, options, signal),
    ),
    part('PlacementGroupReady', 'PlacementGroupResolutionFailed', () => placementGroup(nodeClass, options, signal)),
    part('SubnetsReady', 'SubnetsResolutionFailed', () => subnets(nodeClass, options, signal)),
    part('SecurityGroupsReady', 'SecurityGroupsResolutionFailed', () => securityGroups(nodeClass, options, signal)),
    part('InstanceProfileReady', 'InstanceProfileResolutionFailed', () => instanceProfile(nodeClass, options, signal)),
  ]);

  async function part(type: string, reason: string, resolve: () => Promise<Resolution>): Promise<Resolution> {
    try {
      return await resolve();
    } catch (error) {
      signal.throwIfAborted();
      return failed(type, reason, error);
    }
  }
}

async function images(
  nodeClass: Ec2NodeClass,
  { images: all, directory }: ResolveOptions,
  signal: AbortSignal,
): Promise<Resolution> {
  const { spec } = nodeClass;
  const type = 'AMIsReady';
  const kubernetes = await directory.kubernetesVersion(signal);
  const alias = aliasOf(spec);
  const unsupported = alias === undefined ? undefined : unsupportedAlias(alias, kubernetes);
  if (unsupported !== undefined) return unresolved(type, 'UnsupportedAlias', unsupported, { amis: undefined });
  const amis = await all.select(spec, kubernetes, signal);
  if (amis.length > 0) return resolved(type, { amis });
  const message = `amiSelectorTerms ${selectorText(spec.amiSelectorTerms)} select no image for Kubernetes ${kubernetes}`;
  return unresolved(type, 'AMINotFound', message, { amis: undefined });
}

async function subnets(
  nodeClass: Ec2NodeClass,
  { subnets: all }: ResolveOptions,
  signal: AbortSignal,
): Promise<Resolution> {
  const { subnetSelectorTerms: terms } = nodeClass.spec;
  const found = await all.select(terms, signal);
  if (found.length > 0) {
    // Sorted by ID: sorted by free addresses, the status would change with every node.
    const sorted = [...found].sort((a, b) => (a.id < b.id ? -1 : 1));
    return resolved('SubnetsReady', { subnets: sorted.map(({ id, zone, zoneId }) => ({ id, zone, zoneID: zoneId })) });
  }
  const message = `subnetSelectorTerms ${selectorText(terms)} select no subnet`;
  return unresolved('SubnetsReady', 'SubnetsNotFound', message, { subnets: undefined });
}

async function securityGroups(
  nodeClass: Ec2NodeClass,
  { securityGroups: all }: ResolveOptions,
  signal: AbortSignal,
): Promise<Resolution> {
  const { securityGroupSelectorTerms: terms } = nodeClass.spec;
  const found = await all.select(terms, signal);
  if (found.length > 0) return resolved('SecurityGroupsReady', { securityGroups: found });
  const message = `securityGroupSelectorTerms ${selectorText(terms)} select no security group`;
  return unresolved('SecurityGroupsReady', 'SecurityGroupsNotFound', message, { securityGroups: undefined });
}

/** Selecting none is no failure: a reservation may be created later. */
async function reservations(
  nodeClass: Ec2NodeClass,
  { reservations: all, clock }: ResolveOptions,
  signal: AbortSignal,
): Promise<Resolution> {
  const found = await all.select(nodeClass.spec.capacityReservationSelectorTerms ?? [], signal);
  const now = clock.now();
  const listed = found
    .slice(0, MOST_RESERVATIONS)
    .map((reservation) => reservationStatus(reservation, isExpiring(reservation, now)));
  const ends = found.flatMap(({ endsAt }) => (endsAt === undefined ? [] : [endsAt - now]));
  const status = { capacityReservations: listed.length === 0 ? undefined : listed };
  const againMs = Math.max(1000, Math.min(60_000, ...ends));
  if (found.length <= MOST_RESERVATIONS) return resolved('CapacityReservationsReady', status, againMs);
  const message = `${found.length} reservations are selected and used, of which ${MOST_RESERVATIONS} are listed`;
  return { condition: { type: 'CapacityReservationsReady', status: 'True', message }, status, againMs };
}

function reservationStatus(reservation: CapacityReservation, expiring: boolean): ReservationStatus {
  const { id, zone, instanceType, match, ownerId, type, interruptible, endsAt, free, total } = reservation;
  return {
    id,
    availabilityZone: zone,
    instanceType,
    instanceMatchCriteria: match,
    ownerID: ownerId,
    reservationType: type,
    interruptible,
    state: expiring ? 'expiring' : 'active',
    ...(endsAt === undefined ? {} : { endTime: toTimestamp(endsAt) }),
    availableInstanceCount: free,
    totalInstanceCount: total,
  };
}

async function placementGroup(
  nodeClass: Ec2NodeClass,
  { placementGroups: all }: ResolveOptions,
  signal: AbortSignal,
): Promise<Resolution> {
  const { placementGroupSelector: selector } = nodeClass.spec;
  if (selector === undefined) return resolved('PlacementGroupReady');
  if ((await all.select(selector, signal)) !== undefined) return resolved('PlacementGroupReady');
  const message = `there is no placement group ${selector.name ?? selector.id}`;
  return unresolved('PlacementGroupReady', 'PlacementGroupNotFound', message);
}

async function instanceProfile(
  nodeClass: Ec2NodeClass,
  { profiles, isolated }: ResolveOptions,
  signal: AbortSignal,
): Promise<Resolution> {
  const { instanceProfile: given } = nodeClass.spec;
  if (given === undefined)
    return resolved('InstanceProfileReady', { instanceProfile: await profiles.ensure(nodeClass, signal) });
  if (isolated || (await profiles.exists(given, signal)))
    return resolved('InstanceProfileReady', { instanceProfile: given });
  const message = `there is no instance profile ${given}: make it, or name a role instead`;
  return unresolved('InstanceProfileReady', 'InstanceProfileNotFound', message, { instanceProfile: undefined });
}
