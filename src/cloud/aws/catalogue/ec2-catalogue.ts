/** Everything a node class can launch: the last known shapes, zones and prices, with the settings of the class. */
import { createHash } from 'node:crypto';
import { type Ec2NodeClass, familyOf, type SubnetStatus } from '../../../apis/aws/ec2-node-class.ts';
import { LABEL_ZONE_ID } from '../../../apis/aws/labels.ts';
import type { InstanceType } from '../../../engine/problem.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { ReservationCount } from '../../cloud.ts';
import { IMAGE_FAMILIES } from '../image-family.ts';
import type { ReservationKind } from '../launch/launch-template-data.ts';
import { reservationLabels } from '../machines/ec2-machine.ts';
import { imageFor } from '../selectors/images.ts';
import { type CapacityReservation, isExpiring } from '../selectors/reservations.ts';
import { instanceType, type TypeSettings } from './instance-type.ts';
import { incompatibility, offeringsOf, type Prices } from './offerings.ts';
import type { Shapes } from './shapes.ts';

export type CatalogueSettings = Pick<TypeSettings, 'region' | 'memoryOverhead' | 'reservedInterfaces'> & {
  /** Measured memory of nodes of a shape with the images of a class. */
  readonly learnedMemory?: (imageSet: string, shape: string) => number | undefined;
};

interface Computed {
  readonly key: string;
  readonly types: readonly InstanceType[];
  readonly byName: ReadonlyMap<string, InstanceType>;
}

/** The inputs of the catalogue. */
export interface Market {
  readonly shapes: Shapes;
  readonly shapesVersion: number;
  readonly prices: Prices & { readonly version: number };
  readonly learnedVersion: number;
}

export class Ec2Catalogue {
  readonly #settings: CatalogueSettings;
  /** By the name of the node class. */
  readonly #computed = new Map<string, Computed>();

  constructor(settings: CatalogueSettings) {
    this.#settings = settings;
  }

  /** All types; the same array as before while nothing has changed. */
  instanceTypes(nodeClass: Ec2NodeClass, market: Market): readonly InstanceType[] {
    return this.#compute(nodeClass, market).types;
  }

  /** One type with the settings of a node class as last computed. */
  typeOf(nodeClass: string, name: string): InstanceType | undefined {
    return this.#computed.get(nodeClass)?.byName.get(name);
  }

  forget(nodeClass: string): void {
    this.#computed.delete(nodeClass);
  }

  #compute(nodeClass: Ec2NodeClass, market: Market): Computed {
    const { metadata, status } = nodeClass;
    const { name = '' } = metadata;
    const { subnets = [], amis = [] } = status ?? {};
    const { shapesVersion, prices, learnedVersion } = market;
    const versions = [shapesVersion, prices.version, learnedVersion];
    const key = JSON.stringify([metadata.uid, metadata.generation, versions, subnets, amis]);
    const before = this.#computed.get(name);
    if (before?.key === key) return before;
    const types = this.#types(nodeClass, market, subnets);
    const computed = { key, types, byName: new Map(types.map((type) => [type.name, type])) };
    this.#computed.set(name, computed);
    return computed;
  }

  #types(nodeClass: Ec2NodeClass, { shapes, prices }: Market, subnets: readonly SubnetStatus[]): InstanceType[] {
    const { spec, status } = nodeClass;
    const { amis = [] } = status ?? {};
    const images = imageSetOf(nodeClass);
    const { learnedMemory, ...shared } = this.#settings;
    const settings: TypeSettings = {
      ...shared,
      spec,
      ...(learnedMemory === undefined ? {} : { learnedMemory: (shape: string) => learnedMemory(images, shape) }),
    };
    return [...shapes.values()].flatMap((sold) => {
      if (incompatibility(sold.shape, spec) !== undefined) return [];
      const type = instanceType(sold.shape, offeringsOf(sold, subnets, prices), settings);
      // A shape without an image cannot be launched.
      if (type === undefined || (amis.length > 0 && imageFor(amis, type.labels ?? {}) === undefined)) return [];
      return [type];
    });
  }
}

/** Identifies the images of a class: memory measured with one set of images does not apply to another. */
export function imageSetOf({ status }: Ec2NodeClass): string {
  const ids = (status?.amis ?? []).map(({ id }) => id).sort();
  return createHash('sha256').update(ids.join(',')).digest('hex').slice(0, 16);
}

/** The kind of a reservation, for the fleet call that launches into it. */
export function kindOf({ type, interruptible }: Pick<CapacityReservation, 'type' | 'interruptible'>): ReservationKind {
  return type === 'capacity-block' ? 'capacity-block' : interruptible ? 'interruptible' : 'default';
}

/** Free slots of reservations that a node class can use: its operating system, in zones with a subnet, and not about to end. */
export function reservationCounts(
  nodeClass: Ec2NodeClass,
  reservations: readonly CapacityReservation[],
  clock: Clock,
): ReservationCount[] {
  const { subnets = [] } = nodeClass.status ?? {};
  const windows = IMAGE_FAMILIES[familyOf(nodeClass.spec)].os === 'windows';
  const now = clock.now();
  return reservations.flatMap((reservation) => {
    const { id, instanceType: type, zone, free, platform } = reservation;
    const subnet = subnets.find((each) => each.zone === zone);
    if (subnet === undefined || platform.startsWith('Windows') !== windows) return [];
    const slots = isExpiring(reservation, now) ? 0 : free;
    const labels = reservationLabels(id, kindOf(reservation));
    const zoneId = subnet.zoneID === undefined ? {} : { [LABEL_ZONE_ID]: subnet.zoneID };
    return [{ id, instanceType: type, zone, free: slots, labels: { ...labels, ...zoneId } }];
  });
}
