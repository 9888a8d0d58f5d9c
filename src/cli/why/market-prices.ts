import type { NodeClassReference } from '../../cloud/node-class-kind.ts';
import type { OfflineClouds } from '../offline-clouds.ts';
import type { PriceLookup } from './node-why.ts';

/** The prices of the offerings of a node class. */
export function marketPrices(market: OfflineClouds, nodeClass: NodeClassReference | undefined): PriceLookup {
  return ({ instanceType, zone, capacityType }) => {
    if (nodeClass === undefined) return undefined;
    const types = market.instanceTypes(nodeClass);
    if ('problem' in types) return undefined;
    return types
      .find(({ name }) => name === instanceType)
      ?.offerings.find((offering) => offering.zone === zone && offering.capacityType === capacityType)?.price;
  };
}
