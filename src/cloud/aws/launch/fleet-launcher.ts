/** Launches the instance of a claim with one fleet call. */
import type { CreateFleetCommandOutput } from '@aws-sdk/client-ec2';
import type { Ec2NodeClass } from '../../../apis/aws/ec2-node-class.ts';
import { ANNOTATION_INSTANCE_PROFILE, RESOURCE_EFA } from '../../../apis/aws/labels.ts';
import { LABEL_NODE_POOL } from '../../../apis/karpenter/labels.ts';
import type { InstanceType } from '../../../engine/problem.ts';
import type { Clock } from '../../../platform/clock.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import type { LaunchAnswer, LaunchRequest, Refusal } from '../../cloud.ts';
import type { AwsApi } from '../api/aws-api.ts';
import { awsCodeOf } from '../api/aws-error.ts';
import { kindOf } from '../catalogue/ec2-catalogue.ts';
import type { ClusterDirectory } from '../cluster-directory.ts';
import { machineOf } from '../machines/ec2-machine.ts';
import type { PlacementGroups } from '../selectors/placement-groups.ts';
import type { CapacityReservation, CapacityReservations } from '../selectors/reservations.ts';
import type { Subnets } from '../selectors/subnets.ts';
import { type FleetAnswer, fleetAnswer, type LaunchedInstance } from './fleet-answer.ts';
import { fleetErrorMeaning } from './fleet-error.ts';
import { type FleetOverride, fleetRequest, type OnDemandStrategy } from './fleet-request.ts';
import { launchPlan, tenancyOf } from './launch-plan.ts';
import { type LaunchStep, nextStep } from './launch-step.ts';
import type { ReservationChoice } from './launch-template-data.ts';
import type { LaunchTemplates } from './launch-templates.ts';
import { claimTags } from './tags.ts';

/** Tries per launch, if a subnet has no address left or a launch template is gone. */
const MOST_TRIES = 5;

export interface FleetLauncherOptions {
  readonly api: AwsApi;
  readonly clock: Clock;
  readonly region: string;
  readonly cluster: string;
  readonly directory: ClusterDirectory;
  readonly subnets: Subnets;
  readonly reservations: CapacityReservations;
  readonly placementGroups: PlacementGroups;
  readonly templates: LaunchTemplates;
  readonly onDemandStrategy: OnDemandStrategy;
}

type TypeOf = (name: string) => InstanceType | undefined;

interface Launch {
  readonly request: LaunchRequest;
  readonly nodeClass: Ec2NodeClass;
  readonly step: LaunchStep;
  readonly reservation: ReservationChoice;
  readonly described: CapacityReservation | undefined;
  readonly typeOf: TypeOf;
}

export class FleetLauncher {
  readonly #options: FleetLauncherOptions;

  constructor(options: FleetLauncherOptions) {
    this.#options = options;
  }

  async launch(
    request: LaunchRequest,
    nodeClass: Ec2NodeClass,
    typeOf: TypeOf,
    signal: AbortSignal,
  ): Promise<LaunchAnswer> {
    const step = nextStep(request.offerings, request.takeSlot);
    if (step === undefined) return { kind: 'refused', refused: [] };
    const described = await this.#reservation(nodeClass, step, signal);
    const launch = { request, nodeClass, step, described, reservation: choiceOf(nodeClass, step, described), typeOf };
    const refused: Refusal[] = [];
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const answer = await this.#try(launch, signal);
      if (answer.kind === 'template-gone') continue;
      refused.push(...answer.refused);
      for (const subnet of answer.fullSubnets) this.#options.subnets.exhausted(subnet);
      if (answer.kind === 'launched') return this.#launched(launch, answer.instance, refused);
      // Try again only if nothing but subnet addresses was missing: other subnets may have some.
      if (answer.refused.length > 0) break;
    }
    return {
      kind: 'refused',
      refused: refused.length > 0 ? refused : unlaunchable(step, 'no subnet has a free address'),
    };
  }

  async #try(launch: Launch, signal: AbortSignal): Promise<FleetAnswer> {
    const { request, nodeClass, step, reservation } = launch;
    const { templates, cluster, onDemandStrategy } = this.#options;
    const plan = await this.#plan(launch, signal);
    if (plan.length === 0) {
      const problem = 'no subnet with a free address or no image for these instance types';
      return { kind: 'refused', refused: unlaunchable(step, problem), fullSubnets: [] };
    }
    const named = new Map<string, readonly FleetOverride[]>();
    for (const { data, tags, overrides } of plan) {
      const name = await templates.ensure(data, tags, signal);
      named.set(name, [...(named.get(name) ?? []), ...overrides]);
    }
    const { context } = nodeClass.spec;
    const input = fleetRequest({
      claimUID: request.claim.metadata.uid ?? '',
      attempt: request.attempt,
      capacityType: step.capacityType,
      reservation,
      templates: named,
      onDemandStrategy,
      ...(context === undefined ? {} : { context }),
      tags: claimTags(nodeClass, request.claim, cluster),
    });
    const output = await this.#createFleet(input, signal);
    const answer = fleetAnswer(output, step);
    if (answer.kind === 'template-gone') templates.forget(named.keys());
    return answer;
  }

  /** EC2 reports some errors of a fleet as errors of the whole call; they are handled alike. */
  async #createFleet(input: ReturnType<typeof fleetRequest>, signal: AbortSignal): Promise<CreateFleetCommandOutput> {
    try {
      return await this.#options.api.call('ec2:CreateFleet', input, signal);
    } catch (error) {
      const code = awsCodeOf(error);
      const message = error instanceof Error ? error.message : '';
      if (!(error instanceof SpindriftError) || error.code !== 'CLOUD_REFUSED') throw error;
      const meaning = fleetErrorMeaning(code, message);
      if (meaning.kind === 'retry') {
        const details = { operation: 'ec2:CreateFleet', problem: message };
        throw new SpindriftError('CLOUD_UNAVAILABLE', details, { cause: error });
      }
      return { Errors: [{ ErrorCode: code, ErrorMessage: message }], $metadata: {} };
    }
  }

  async #plan({ request, nodeClass, step, reservation, described, typeOf }: Launch, signal: AbortSignal) {
    const { directory, subnets, region, placementGroups } = this.#options;
    const { placementGroupSelector: selector } = nodeClass.spec;
    const [cluster, placementGroup] = await Promise.all([
      directory.facts(signal),
      selector === undefined ? undefined : placementGroups.select(selector, signal),
      subnets.select(nodeClass.spec.subnetSelectorTerms, signal),
    ]);
    return launchPlan({
      claim: request.claim,
      nodeClass,
      step,
      reservation,
      ...(described?.tenancy === 'dedicated' ? { dedicatedReservation: true } : {}),
      cluster,
      region,
      typeOf,
      subnets: subnets.best(nodeClass.status?.subnets ?? []),
      ...(placementGroup === undefined ? {} : { placementGroup: placementGroup.id }),
    });
  }

  async #reservation(
    { spec }: Ec2NodeClass,
    { reservationId }: LaunchStep,
    signal: AbortSignal,
  ): Promise<CapacityReservation | undefined> {
    if (reservationId === undefined) return undefined;
    const selected = await this.#options.reservations.select(spec.capacityReservationSelectorTerms ?? [], signal);
    return selected.find(({ id }) => id === reservationId);
  }

  #launched(launch: Launch, instance: LaunchedInstance, refused: readonly Refusal[]): LaunchAnswer {
    const { request, nodeClass, step, reservation, described, typeOf } = launch;
    const { claim } = request;
    const { metadata } = claim;
    const type = typeOf(instance.instanceType);
    const zone = instance.zone !== '' ? instance.zone : (step.offerings[0]?.zone ?? '');
    const subnet = nodeClass.status?.subnets?.find(({ id }) => id === instance.subnetId);
    if (instance.subnetId !== undefined) this.#options.subnets.take(instance.subnetId, type?.capacity.pods ?? 1);
    const machine = machineOf({
      instanceId: instance.instanceId,
      state: 'pending',
      ending: false,
      instanceType: instance.instanceType,
      zone,
      ...(subnet?.zoneID === undefined ? {} : { zoneId: subnet.zoneID }),
      capacityType: step.capacityType,
      ...(reservation.kind === 'target' ? { reservation: { id: reservation.id, of: reservation.of } } : {}),
      ...(instance.imageId === undefined ? {} : { imageID: instance.imageId }),
      tenancy: described?.tenancy === 'dedicated' ? 'dedicated' : tenancyOf(claim),
      ...(instance.subnetId === undefined ? {} : { subnetId: instance.subnetId }),
      securityGroups: (nodeClass.status?.securityGroups ?? []).map(({ id }) => id),
      launchedAt: this.#options.clock.now(),
      claim: { name: metadata.name ?? '', uid: metadata.uid ?? '' },
      pool: metadata.labels?.[LABEL_NODE_POOL] ?? '',
      nodeClass: nodeClass.metadata.name ?? '',
      type: withoutUnaskedEfas(
        type,
        claim.spec.resources?.requests?.[RESOURCE_EFA] !== undefined || nodeClass.spec.networkInterfaces !== undefined,
      ),
    });
    const profile = nodeClass.status?.instanceProfile;
    return {
      kind: 'launched',
      machine,
      ...(profile === undefined ? {} : { annotations: { [ANNOTATION_INSTANCE_PROFILE]: profile } }),
      refused,
    };
  }
}

/** If the node class selects reservations, a launch uses the reservation of its offering, or none at all. */
function choiceOf(
  { spec }: Ec2NodeClass,
  { reservationId }: LaunchStep,
  described: CapacityReservation | undefined,
): ReservationChoice {
  if (reservationId !== undefined) {
    return { kind: 'target', id: reservationId, of: described === undefined ? 'default' : kindOf(described) };
  }
  return (spec.capacityReservationSelectorTerms ?? []).length > 0 ? { kind: 'none' } : { kind: 'unsaid' };
}

function unlaunchable({ offerings }: LaunchStep, message: string): Refusal[] {
  return offerings.map(({ capacityType, instanceType, zone, reservationId }) => ({
    offering: { capacityType, instanceType, zone, ...(reservationId === undefined ? {} : { reservationId }) },
    cause: 'capacity',
    message,
  }));
}

/** EFA interfaces exist only if they were requested. */
function withoutUnaskedEfas(type: InstanceType | undefined, asked: boolean): InstanceType | undefined {
  if (type === undefined || asked || type.capacity[RESOURCE_EFA] === undefined) return type;
  const { [RESOURCE_EFA]: _, ...capacity } = type.capacity;
  return { ...type, capacity };
}
