/** The latest known offerings of the clouds, under the names that Karpenter's dashboards know. */
import type { InstanceType, Offering } from '../../engine/problem.ts';
import type { Series } from '../../platform/counted-gauge.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { UsablePool } from '../../state/usable-pool.ts';

const LABELS = ['instance_type', 'capacity_type', 'zone'] as const;

export class OfferingGauges {
  #types: readonly InstanceType[] = [];

  constructor(metrics: Metrics) {
    const ofOfferings = (name: string, help: string, value: (offering: Offering) => number): void =>
      metrics.counted({ name, help, labels: LABELS }, () => this.#seriesOf(value));
    const ofTypes = (name: string, help: string, value: (type: InstanceType) => number): void =>
      metrics.counted({ name, help, labels: ['instance_type'] }, () =>
        this.#types.map((type) => [{ instance_type: type.name }, value(type)] as const),
      );
    ofOfferings(
      'karpenter_cloudprovider_instance_type_offering_available',
      '1 for an available offering, 0 for one without capacity',
      ({ healthy = true, slots = 1 }) => (healthy && slots > 0 ? 1 : 0),
    );
    ofOfferings(
      'karpenter_cloudprovider_instance_type_offering_price_estimate',
      'Price of an offering, in dollars per hour',
      ({ price }) => price,
    );
    ofTypes('karpenter_cloudprovider_instance_type_cpu_cores', 'Cores of an instance type', ({ capacity }) => {
      return (capacity.cpu ?? 0) / 1000;
    });
    ofTypes('karpenter_cloudprovider_instance_type_memory_bytes', 'Memory of an instance type', ({ capacity }) => {
      return capacity.memory ?? 0;
    });
  }

  /** Of several reservations of a type in a zone, the last is shown. */
  *#seriesOf(value: (offering: Offering) => number): Iterable<Series<(typeof LABELS)[number]>> {
    for (const { name: instance_type, offerings } of this.#types) {
      const last = new Map(offerings.map((one) => [`${one.capacityType}/${one.zone}`, one]));
      for (const offering of last.values()) {
        const { capacityType: capacity_type, zone } = offering;
        yield [{ instance_type, capacity_type, zone }, value(offering)];
      }
    }
  }

  /** Sets the present offerings. If several pools offer a type, the last one is shown. */
  heard(pools: readonly UsablePool[]): void {
    const types = new Map(
      pools.flatMap(({ instanceTypes, sold = instanceTypes }) => sold.map((type) => [type.name, type] as const)),
    );
    this.#types = [...types.values()];
  }
}
