/** The launch templates of one fleet call, and the overrides that use each of them. Pure. */
import { aliasOf, type Ec2NodeClass, familyOf, type SubnetStatus } from '../../../apis/aws/ec2-node-class.ts';
import { LABEL_TENANCY, RESOURCE_EFA } from '../../../apis/aws/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../../../engine/problem.ts';
import { imageFor } from '../selectors/images.ts';
import type { ClusterFacts, JoinSettings } from '../user-data/join-settings.ts';
import { userData } from '../user-data/user-data.ts';
import type { FleetOverride } from './fleet-request.ts';
import { launchLabels, launchTaints } from './launch-labels.ts';
import type { LaunchStep } from './launch-step.ts';
import { launchTemplateData, type ReservationChoice, type TemplateSettings } from './launch-template-data.ts';
import { poolTags, type Tags } from './tags.ts';

export interface LaunchPlanOptions {
  readonly claim: NodeClaim;
  readonly nodeClass: Ec2NodeClass;
  readonly step: LaunchStep;
  readonly reservation: ReservationChoice;
  /** The reservation is for dedicated hardware. */
  readonly dedicatedReservation?: boolean;
  readonly cluster: ClusterFacts;
  readonly region: string;
  readonly typeOf: (name: string) => InstanceType | undefined;
  /** The subnet to launch into, by zone. */
  readonly subnets: ReadonlyMap<string, SubnetStatus>;
  readonly placementGroup?: string;
}

export interface PlannedTemplate {
  readonly data: ReturnType<typeof launchTemplateData>;
  readonly tags: Tags;
  readonly overrides: readonly FleetOverride[];
}

/** One template per combination of image, pod limit and interfaces among the offerings; empty if no offering can be launched. */
export function launchPlan(options: LaunchPlanOptions): PlannedTemplate[] {
  const { nodeClass, step, subnets, typeOf, claim } = options;
  const images = nodeClass.status?.amis ?? [];
  const wantsEfas = claim.spec.resources?.requests?.[RESOURCE_EFA] !== undefined;
  const groups = new Map<string, { imageId: string; maxPods: number; efas: number; overrides: FleetOverride[] }>();
  step.offerings.forEach(({ instanceType, zone }, rank) => {
    const type = typeOf(instanceType);
    const image = type === undefined ? undefined : imageFor(images, type.labels ?? {});
    const subnet = subnets.get(zone);
    if (type === undefined || image === undefined || subnet === undefined) return;
    const maxPods = type.capacity.pods ?? 110;
    const efas = wantsEfas ? (type.capacity[RESOURCE_EFA] ?? 0) : 0;
    const key = `${image.id}/${maxPods}/${efas}`;
    const group = groups.get(key) ?? { imageId: image.id, maxPods, efas, overrides: [] };
    group.overrides.push({ instanceType, zone, subnetId: subnet.id, imageId: image.id, rank });
    groups.set(key, group);
  });
  return [...groups.values()].map(({ imageId, maxPods, efas, overrides }) => {
    const tags = poolTags(nodeClass, claim, options.cluster.name);
    return { data: launchTemplateData(templateSettings(options, imageId, maxPods, efas, tags)), tags, overrides };
  });
}

function templateSettings(
  options: LaunchPlanOptions,
  imageId: string,
  maxPods: number,
  efas: number,
  tags: Tags,
): TemplateSettings {
  const { nodeClass, step, reservation, region, cluster, claim, placementGroup, dedicatedReservation } = options;
  const { status } = nodeClass;
  return {
    nodeClass,
    capacityType: step.capacityType,
    reservation,
    imageId,
    userData: userData(familyOf(nodeClass.spec), joinSettings(options, maxPods)),
    instanceProfile: status?.instanceProfile ?? nodeClass.spec.instanceProfile ?? '',
    securityGroups: (status?.securityGroups ?? []).map(({ id }) => id),
    tenancy: dedicatedReservation === true ? 'dedicated' : tenancyOf(claim),
    ...(placementGroup === undefined ? {} : { placementGroup }),
    efas,
    ipv6: cluster.dns?.includes(':') === true,
    nitroEnclave: claim.spec.requirements.some(({ key }) => key === 'eks.amazonaws.com/nitro-sandbox'),
    region,
    tags,
  };
}

function joinSettings({ nodeClass, claim, step, cluster }: LaunchPlanOptions, maxPods: number): JoinSettings {
  const { spec } = nodeClass;
  const version = aliasOf(spec)?.version;
  return {
    cluster,
    labels: launchLabels(claim, step.capacityType),
    taints: launchTaints(claim),
    kubelet: spec.kubelet ?? {},
    maxPods,
    ...(spec.userData === undefined ? {} : { custom: spec.userData }),
    raid0: spec.instanceStorePolicy === 'RAID0',
    ...(version === undefined ? {} : { imageVersion: version }),
  };
}

/** Dedicated hardware only if the claim requires it, because it costs more. */
export function tenancyOf({ spec }: NodeClaim): 'default' | 'dedicated' {
  const asked = spec.requirements.filter(({ key }) => key === LABEL_TENANCY);
  const allowsDefault = asked.every(({ operator, values = [] }) => {
    if (operator === 'In') return values.includes('default');
    return operator !== 'NotIn' || !values.includes('default');
  });
  return allowsDefault ? 'default' : 'dedicated';
}
