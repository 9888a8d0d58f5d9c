/** A shape of the built-in tables as the engine sees it, and as a running machine shows it. */
import {
  LABEL_ARCH,
  LABEL_CAPACITY_TYPE,
  LABEL_INSTANCE_TYPE,
  LABEL_OS,
  LABEL_REGION,
  LABEL_ZONE,
} from '../../apis/karpenter/labels.ts';
import type { InstanceType, Labels, Resources } from '../../engine/problem.ts';
import type { Machine } from '../machine.ts';
import { dollars, type MachineShape } from '../machine-shape.ts';

const MIB = 1024 * 1024;

/** Where and how a shape is sold. */
export interface SoldShape {
  readonly shape: MachineShape;
  readonly region: string;
  readonly zones: readonly string[];
  /** Prices of the tables times this. */
  readonly priceFactor: number;
  /** Whether it is sold on the spot market as well. */
  readonly spot: boolean;
  /** Labels that only this cloud has. */
  readonly labels: Labels;
  /** Which share of its memory a node sees. */
  readonly memoryShare: number;
  /** Taken from pods, in millicores and MiB. */
  readonly reserved: { readonly cpu: number; readonly memoryMib: number };
}

/** The shape as an instance type; none where no zone sells it. */
export function instanceTypesOf(sold: SoldShape): readonly InstanceType[] {
  const { shape, region, zones, priceFactor, spot, labels, memoryShare, reserved } = sold;
  if (zones.length === 0) return [];
  const { accelerator } = shape;
  const price = (usd: number): number => dollars(usd * priceFactor);
  return [
    {
      name: shape.name,
      labels: { [LABEL_ARCH]: shape.arch, [LABEL_OS]: 'linux', [LABEL_REGION]: region, ...labels },
      capacity: {
        cpu: shape.vcpus * 1000,
        memory: Math.floor(shape.memoryMib * memoryShare) * MIB,
        pods: 110,
        ...(accelerator && { [accelerator.resource]: accelerator.count }),
      },
      overhead: { cpu: reserved.cpu, memory: reserved.memoryMib * MIB },
      offerings: [...zones]
        .sort()
        .flatMap((zone) => [
          { zone, capacityType: 'on-demand' as const, price: price(shape.onDemand) },
          ...(spot ? [{ zone, capacityType: 'spot' as const, price: price(shape.spot) }] : []),
        ]),
    },
  ];
}

/** A machine as its API shows it, without the facts of its type. */
export type SeenMachine = Omit<Machine, 'labels' | 'capacity' | 'allocatable'>;

/** A machine with what its type has; nothing where the tables do not know the type. */
export function machineOfType(seen: SeenMachine, region: string, type: InstanceType | undefined): Machine {
  const { instanceType, zone, capacityType } = seen;
  const { capacity = {}, overhead = {}, labels = {} } = type ?? {};
  return {
    ...seen,
    capacity,
    labels: {
      ...labels,
      [LABEL_INSTANCE_TYPE]: instanceType,
      [LABEL_ZONE]: zone,
      [LABEL_REGION]: region,
      [LABEL_CAPACITY_TYPE]: capacityType,
    },
    allocatable: minus(capacity, overhead),
  };
}

function minus(capacity: Resources, overhead: Resources): Resources {
  return Object.fromEntries(Object.entries(capacity).map(([name, amount]) => [name, amount - (overhead[name] ?? 0)]));
}
