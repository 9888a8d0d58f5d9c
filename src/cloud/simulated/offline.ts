/**
 * The offerings of the simulated cloud by its node classes, for commands without a running autoscaler. Prices are means, or the present
 * ones if the node class has a seed. The machines of the cluster's nodes are counted, and offerings without capacity are marked as
 * unavailable.
 */

import type { SimulatedNodeClass } from '../../apis/spindrift/simulated-node-class.ts';
import type { InstanceType, Offering } from '../../engine/problem.ts';
import { seededRandom } from '../../platform/random.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import type { MarketTrouble, OfflineMarket, OfflineOptions } from '../cloud-module.ts';
import { PriceList } from '../price-list.ts';
import { Reservations } from '../reservations.ts';
import { UnavailableOfferings } from '../unavailable-offerings.ts';
import { type AccountSettings, covers } from './account-settings.ts';
import { RESERVATION_ID } from './labels.ts';
import { NodeClassAccounts } from './node-class-accounts.ts';
import { instanceOfNode } from './node-of-instance.ts';
import { SimulatedCloud } from './simulated-cloud.ts';

/** The market of all node classes of a cluster, at one moment. */
export class SimulatedMarket implements OfflineMarket {
  readonly #cloud: SimulatedCloud;
  readonly #clock: VirtualClock;
  readonly #accounts: NodeClassAccounts;
  readonly #known = new Map<string, readonly InstanceType[]>();

  constructor({ now, nodeClasses, nodes = [], live = false, catalogFile }: OfflineOptions) {
    // Its time stands still, so that nothing changes and no timer keeps the program running.
    this.#clock = new VirtualClock({ start: now });
    this.#cloud = new SimulatedCloud({ clock: this.#clock, random: seededRandom('market') });
    this.#accounts = new NodeClassAccounts({ cloud: this.#cloud });
    for (const nodeClass of nodeClasses as readonly SimulatedNodeClass[])
      this.#accounts.apply(standingStill(nodeClass, live, catalogFile));
    for (const node of nodes) {
      const instance = instanceOfNode(node);
      if (instance !== undefined) this.#cloud.restore(instance);
    }
  }

  /** The instance types of a node class, or why there are none. */
  instanceTypes(name: string): readonly InstanceType[] | MarketTrouble {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const { ready, message } = this.#accounts.readiness(name);
    const account = this.#cloud.account(name);
    if (!ready || account === undefined) return { problem: message };
    const shared = { clock: this.#clock };
    const market = new PriceList({
      scope: name,
      unavailable: new UnavailableOfferings(shared),
      reservations: new Reservations(shared),
      reservationLabel: RESERVATION_ID,
    });
    const now = this.#clock.now();
    market.update({
      instanceTypes: account.priceList(now),
      reservations: account.reservations(now),
      countedAt: this.#clock.elapsed(),
    });
    const types = market.instanceTypes().map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => withHealth(offering, type.name, account.settings)),
    }));
    this.#known.set(name, types);
    return types;
  }
}

/** Freezes the market, so that answers repeat. With a seed its prices still move, as the autoscaler sees them. */
function standingStill(
  nodeClass: SimulatedNodeClass,
  live: boolean,
  catalogFile: string | undefined,
): SimulatedNodeClass {
  const { spec } = nodeClass;
  const volatility = live && spec.seed !== undefined ? spec.spotMarket.volatility : 0;
  return {
    ...nodeClass,
    spec: {
      ...spec,
      spotMarket: { ...spec.spotMarket, volatility, interruptionsPerHour: 0 },
      ...(spec.catalogFile === undefined && catalogFile !== undefined && { catalogFile }),
    },
  };
}

/** The node class sets its capacity to zero, so a launch would fail. */
function withHealth(offering: Offering, instanceType: string, { overrides }: AccountSettings): Offering {
  const { capacityType, zone } = offering;
  const last = overrides.findLast(
    (override) => override.capacity !== undefined && covers(override, { capacityType, instanceType, zone }),
  );
  return last?.capacity === 0 ? { ...offering, healthy: false } : offering;
}
