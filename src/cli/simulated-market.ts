/**
 * What the simulated cloud sells, as its node classes describe it, for commands that ask without a running autoscaler:
 * mean prices, or those of the moment where the market follows from a seed on the node class; machines of the cluster's nodes
 * counted; and offerings that a node class has none of out of the market.
 */

import type { Node } from '../apis/kubernetes/node.ts';
import { SIMULATED_NODE_CLASSES, type SimulatedNodeClass } from '../apis/spindrift/simulated-node-class.ts';
import type { NodeClassReference } from '../cloud/provider.ts';
import { Reservations } from '../cloud/reservations.ts';
import { AccountMarket } from '../cloud/simulated/account-market.ts';
import { type AccountSettings, covers } from '../cloud/simulated/account-settings.ts';
import { NodeClassAccounts } from '../cloud/simulated/node-class-accounts.ts';
import { instanceOfNode } from '../cloud/simulated/node-of-instance.ts';
import { SimulatedCloud } from '../cloud/simulated/simulated-cloud.ts';
import { UnavailableOfferings } from '../cloud/unavailable-offerings.ts';
import type { InstanceType, Offering } from '../engine/problem.ts';
import type { EpochMs } from '../platform/clock.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';

/** What the market is made from. */
export interface SimulatedMarketOptions {
  readonly now: EpochMs;
  readonly nodeClasses: readonly SimulatedNodeClass[];
  readonly nodes?: readonly Node[];
  /** Prices are those of this moment where they can be known. */
  readonly live?: boolean;
  /** A file that is sold where a node class names none. */
  readonly catalogFile?: string;
}

/** Why nothing can be had from a node class. */
export interface MarketTrouble {
  readonly problem: string;
}

/** The market of all node classes of a cluster, at one moment. */
export class SimulatedMarket {
  readonly #cloud: SimulatedCloud;
  readonly #clock: VirtualClock;
  readonly #accounts: NodeClassAccounts;
  readonly #known = new Map<string, readonly InstanceType[]>();

  constructor({ now, nodeClasses, nodes = [], live = false, catalogFile }: SimulatedMarketOptions) {
    // Its time stands still, so that nothing happens in it and no timer keeps the program running.
    this.#clock = new VirtualClock({ start: now });
    this.#cloud = new SimulatedCloud({ clock: this.#clock, random: seededRandom('market') });
    this.#accounts = new NodeClassAccounts({ cloud: this.#cloud });
    for (const nodeClass of nodeClasses) this.#accounts.apply(standingStill(nodeClass, live, catalogFile));
    for (const node of nodes) {
      const instance = instanceOfNode(node);
      if (instance !== undefined) this.#cloud.restore(instance);
    }
  }

  /** What a node class sells, or why it sells nothing. */
  instanceTypes({ group, kind, name }: NodeClassReference): readonly InstanceType[] | MarketTrouble {
    if (group !== SIMULATED_NODE_CLASSES.group || kind !== SIMULATED_NODE_CLASSES.kind)
      return { problem: `what ${kind} ${name} sells is not known here` };
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const { ready, message } = this.#accounts.readiness(name);
    const account = this.#cloud.account(name);
    if (!ready || account === undefined) return { problem: message };
    const shared = { clock: this.#clock };
    const market = new AccountMarket({
      account: name,
      unavailable: new UnavailableOfferings(shared),
      reservations: new Reservations(shared),
    });
    const now = this.#clock.now();
    market.update(account.priceList(now), account.reservations(now), this.#clock.elapsed());
    const types = market.instanceTypes().map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => withHealth(offering, type.name, account.settings)),
    }));
    this.#known.set(name, types);
    return types;
  }
}

/** A market that does not move gives the same answer twice; one that moves by a seed, the answer that the autoscaler gets. */
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

/** The cloud finds out at the launch that it has none; whoever reads the node class knows before. */
function withHealth(offering: Offering, instanceType: string, { overrides }: AccountSettings): Offering {
  const { capacityType, zone } = offering;
  const last = overrides.findLast(
    (override) => override.capacity !== undefined && covers(override, { capacityType, instanceType, zone }),
  );
  return last?.capacity === 0 ? { ...offering, healthy: false } : offering;
}
