/** Converts instances of IBM Cloud to machines of the driver contract. */
import type { IBMNodeClass } from '../../apis/ibm/ibm-node-class.ts';
import { ANNOTATION_IBM_IMAGE, ANNOTATION_IBM_SECURITY_GROUPS, ANNOTATION_IBM_SUBNET } from '../../apis/ibm/labels.ts';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { Labels, Resources } from '../../engine/problem.ts';
import { type Clock, parseTimestamp } from '../../platform/clock.ts';
import type { Machine } from '../machine.ts';
import type { VpcInstance } from './api/vpc-types.ts';
import type { IbmCatalogue } from './catalogue.ts';
import { machineState } from './launch/instance-state.ts';
import type { Owner } from './launch/ownership.ts';
import { capacityTypeOf } from './profiles/capacity-types.ts';
import { labelsOfShape, resourcesOfShape } from './profiles/instance-type.ts';
import { providerIDOf } from './provider-id.ts';
import type { Regions } from './regions.ts';

export interface MachineViewOptions {
  readonly clock: Clock;
  readonly regions: Regions;
  readonly catalogue: IbmCatalogue;
  readonly memoryOverhead: number;
  readonly nodeClass: (name: string) => IBMNodeClass | undefined;
}

export class MachineView {
  readonly #options: MachineViewOptions;

  constructor(options: MachineViewOptions) {
    this.#options = options;
  }

  /** The machine; its capacity type is the instance's own. */
  machine(instance: VpcInstance, owner: Owner | undefined, region: string): Machine {
    const { id, profile, zone, image, created_at: createdAt } = instance;
    const capacityType = capacityTypeOf(instance.availability?.class);
    const ofClass = owner === undefined ? undefined : this.#options.nodeClass(owner.nodeClass);
    const { capacity, overhead } = this.#resourcesOf(region, profile.name, ofClass);
    return {
      providerID: providerIDOf({ region, id }),
      state: machineState(instance),
      instanceType: profile.name,
      zone: zone.name,
      capacityType,
      ...(image === undefined ? {} : { imageID: image.id }),
      labels: this.labelsOf(region, profile.name, zone.name, capacityType),
      capacity,
      allocatable: Object.fromEntries(
        Object.entries(capacity).map(([name, amount]) => [name, Math.max(0, amount - (overhead[name] ?? 0))]),
      ),
      launchedAt: parseTimestamp(createdAt) ?? this.#options.clock.now(),
      claim: { name: owner?.claim ?? '', uid: owner?.uid ?? '' },
      pool: owner?.pool ?? '',
      nodeClass: owner?.nodeClass ?? '',
      annotations: annotationsOf(instance, ofClass),
    };
  }

  #resourcesOf(
    region: string,
    profile: string,
    nodeClass: IBMNodeClass | undefined,
  ): { capacity: Resources; overhead: Resources } {
    const shape = this.#options.regions.shape(region, profile);
    if (shape === undefined) return { capacity: {}, overhead: {} };
    const { memoryOverhead, catalogue } = this.#options;
    const learnedMemory = (name: string): number | undefined => catalogue.learnedMemory(name);
    return resourcesOfShape(shape, { spec: nodeClass?.spec ?? {}, memoryOverhead, learnedMemory });
  }

  labelsOf(region: string, profile: string, zone: string, capacityType: string): Labels {
    const shape = this.#options.regions.shape(region, profile);
    return {
      ...(shape === undefined ? {} : labelsOfShape(shape, region)),
      [LABEL_INSTANCE_TYPE]: profile,
      [LABEL_ZONE]: zone,
      [LABEL_CAPACITY_TYPE]: capacityType,
    };
  }
}

/** Annotations used later to detect drift. */
function annotationsOf(
  { primary_network_attachment: attachment, image }: VpcInstance,
  nodeClass: IBMNodeClass | undefined,
): Readonly<Record<string, string>> {
  const subnet = attachment?.subnet.id;
  const groups = nodeClass?.status?.resolvedSecurityGroups;
  return {
    ...(image === undefined ? {} : { [ANNOTATION_IBM_IMAGE]: image.id }),
    ...(subnet === undefined ? {} : { [ANNOTATION_IBM_SUBNET]: subnet }),
    ...(groups === undefined ? {} : { [ANNOTATION_IBM_SECURITY_GROUPS]: [...groups].sort().join() }),
  };
}
