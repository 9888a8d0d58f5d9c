/**
 * Plans with the built-in tables of a cloud, without calling it. Only the cloud knows which zones sell a type, so every zone of the
 * region counts as selling all of them.
 */
import { LABEL_REGION } from '../../apis/karpenter/labels.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { hint } from '../../platform/nearest.ts';
import type { MarketTrouble, OfflineMarket, OfflineOptions } from '../cloud-module.ts';
import type { NodeClass } from '../node-class-kind.ts';

/** The types and prices that a cloud's driver has built in. */
export interface BuiltInTable {
  /** The label that nodes of the cloud's node classes have. */
  readonly nodeClassLabel: string;
  /** The default first. */
  readonly regions: readonly [string, ...string[]];
  instanceTypes(region: string, nodeClass: NodeClass): readonly InstanceType[];
}

export class BuiltInMarket implements OfflineMarket {
  readonly #nodeClasses: ReadonlyMap<string | undefined, NodeClass>;
  readonly #table: BuiltInTable;
  readonly #region: string;
  readonly #known = new Map<string, readonly InstanceType[]>();

  constructor({ nodeClasses, nodes = [], region }: OfflineOptions, table: BuiltInTable) {
    this.#nodeClasses = new Map(nodeClasses.map((each) => [each.metadata.name, each]));
    this.#table = table;
    const own = nodes.find(({ metadata }) => metadata.labels?.[table.nodeClassLabel] !== undefined);
    this.#region = region ?? own?.metadata.labels?.[LABEL_REGION] ?? table.regions[0];
  }

  instanceTypes(name: string): readonly InstanceType[] | MarketTrouble {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const nodeClass = this.#nodeClasses.get(name);
    if (nodeClass === undefined) return { problem: `there is no node class ${name}` };
    const { regions } = this.#table;
    if (!regions.includes(this.#region)) {
      const others = `it has ${regions.join(', ')}${hint(this.#region, regions)}`;
      return { problem: `the built-in table does not have region ${this.#region}: ${others}` };
    }
    const types = this.#table.instanceTypes(this.#region, nodeClass);
    this.#known.set(name, types);
    return types;
  }
}
