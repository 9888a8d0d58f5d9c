/** The instance types of a node class: the allowed profiles of its region, with prices, in the zones of its subnets. */
import type { IBMNodeClass } from '../../apis/ibm/ibm-node-class.ts';
import { IBM_CONDITION_SPOT } from '../../apis/ibm/ibm-node-class.ts';
import { conditionOf } from '../../apis/karpenter/conditions.ts';
import { type CapacityType, LABEL_INSTANCE_TYPE } from '../../apis/karpenter/labels.ts';
import type { Node } from '../../apis/kubernetes/node.ts';
import { wholeValue } from '../../apis/kubernetes/quantity.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { allowedShapes } from './node-class/allowed-shapes.ts';
import type { PriceBook } from './prices/price-book.ts';
import { type SpotPricing, spotPrice } from './prices/spot-price.ts';
import { instanceTypeOf } from './profiles/instance-type.ts';
import type { MachineShape } from './profiles/machine-shape.ts';
import type { Regions } from './regions.ts';

export interface IbmCatalogueOptions {
  readonly regions: Regions;
  readonly prices: PriceBook;
  readonly spot: SpotPricing;
  readonly memoryOverhead: number;
  readonly nodes: () => readonly Node[];
}

interface Made {
  readonly stamp: string;
  readonly shapes: readonly MachineShape[];
  readonly instanceTypes: readonly InstanceType[];
}

export class IbmCatalogue {
  readonly #options: IbmCatalogueOptions;
  /** By the name of the node class. */
  readonly #made = new Map<string, Made>();
  #learned: ReadonlyMap<string, number> = new Map();

  constructor(options: IbmCatalogueOptions) {
    this.#options = options;
  }

  /** The same array as before while nothing has changed. */
  async instanceTypes(nodeClass: IBMNodeClass, signal: AbortSignal): Promise<readonly InstanceType[]> {
    const { regions, prices, nodes } = this.#options;
    const { name = '', generation = 0 } = nodeClass.metadata;
    const shapes = await regions.shapes(nodeClass.spec.region, signal);
    const learned = learnedMemory(nodes());
    this.#learned = learned;
    const { resolvedZones, resolvedArchitecture, placementTargetKind } = nodeClass.status ?? {};
    if (resolvedZones === undefined)
      throw new SpindriftError('CLOUD_NODE_CLASS_NOT_READY', {
        nodeClass: name,
        problem: 'its subnets have not been found yet',
      });
    const spotState = conditionOf(nodeClass, IBM_CONDITION_SPOT)?.status;
    const stamp = JSON.stringify([
      nodeClass.metadata.uid,
      generation,
      nodeClass.spec,
      resolvedZones,
      resolvedArchitecture,
      placementTargetKind,
      spotState,
      prices.version,
      [...learned],
    ]);
    const made = this.#made.get(name);
    if (made !== undefined && made.stamp === stamp && made.shapes === shapes) return made.instanceTypes;
    const instanceTypes = this.#make(nodeClass, shapes, learned);
    this.#made.set(name, { stamp, shapes, instanceTypes });
    return instanceTypes;
  }

  /** Memory of nodes of a profile, as measured when a catalogue was last built. */
  learnedMemory(profile: string): number | undefined {
    return this.#learned.get(profile);
  }

  #make(
    nodeClass: IBMNodeClass,
    shapes: readonly MachineShape[],
    learned: ReadonlyMap<string, number>,
  ): readonly InstanceType[] {
    const { prices, spot, memoryOverhead } = this.#options;
    const { spec, status = {} } = nodeClass;
    const most = Number(spec.instanceRequirements?.maximumHourlyPrice ?? Number.POSITIVE_INFINITY);
    const settings = {
      region: spec.region,
      zones: [...new Set(status.resolvedZones ?? [])].sort(),
      spec,
      memoryOverhead,
      learnedMemory: (profile: string) => learned.get(profile),
      capacityTypes: capacityTypesOf(nodeClass),
      price: (shape: MachineShape, capacityType: CapacityType) => {
        const onDemand = prices.onDemand(spec.region, shape);
        if (onDemand === undefined) return undefined;
        const price = capacityType === 'spot' ? spotPrice(shape.name, onDemand, spot) : onDemand;
        return price <= most ? price : undefined;
      },
    };
    return allowedShapes(spec, shapes, status.resolvedArchitecture).flatMap(
      (shape) => instanceTypeOf(shape, settings) ?? [],
    );
  }
}

/** If a constraint forbids spot for a class, it offers none, so that no plan counts on spot. */
function capacityTypesOf(nodeClass: IBMNodeClass): readonly CapacityType[] {
  return conditionOf(nodeClass, IBM_CONDITION_SPOT)?.status === 'False' ? ['on-demand'] : ['on-demand', 'spot'];
}

/** The lowest memory of the nodes of each profile. */
export function learnedMemory(nodes: readonly Node[]): ReadonlyMap<string, number> {
  const learned = new Map<string, number>();
  for (const { spec, metadata, status } of nodes) {
    const profile = metadata.labels?.[LABEL_INSTANCE_TYPE];
    const memory = status?.capacity?.memory;
    if (spec?.providerID?.startsWith('ibm:///') !== true || profile === undefined || memory === undefined) continue;
    const bytes = Number(wholeValue(memory));
    learned.set(profile, Math.min(bytes, learned.get(profile) ?? bytes));
  }
  return learned;
}
