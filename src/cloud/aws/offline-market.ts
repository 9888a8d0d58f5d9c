/**
 * The offerings of node classes without asking AWS: the built-in catalogue of a region. On-demand prices are those of the built-in table.
 * Spot prices are unknown offline, so spot costs a fixed share of on-demand here.
 */
import { EC2_NODE_CLASSES, type Ec2NodeClass } from '../../apis/aws/ec2-node-class.ts';
import { EC2_NODE_CLASS_SPEC } from '../../apis/aws/ec2-node-class-schema.ts';
import { withDefaults } from '../../apis/schema/with-defaults.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { hint } from '../../platform/nearest.ts';
import type { MarketTrouble, OfflineMarket, OfflineOptions } from '../cloud-module.ts';
import { BUILT_IN_SPOT_SHARE, builtInPrices, builtInRegions } from './built-in/built-in-prices.ts';
import { builtInShapes } from './built-in/built-in-shapes.ts';
import { Ec2Catalogue } from './catalogue/ec2-catalogue.ts';
import type { Shapes } from './catalogue/shapes.ts';

const DEFAULT_REGION = 'us-east-1';

export interface OfflineSettings {
  readonly memoryOverhead: number;
  readonly reservedInterfaces: number;
}

export class AwsOfflineMarket implements OfflineMarket {
  readonly #nodeClasses: ReadonlyMap<string, Ec2NodeClass>;
  readonly #region: string;
  readonly #settings: OfflineSettings;
  readonly #known = new Map<string, readonly InstanceType[]>();

  constructor({ nodeClasses, region = DEFAULT_REGION }: OfflineOptions, settings: OfflineSettings) {
    this.#nodeClasses = new Map(
      (nodeClasses as readonly Ec2NodeClass[]).map((each) => [each.metadata.name ?? '', each]),
    );
    this.#region = region;
    this.#settings = settings;
  }

  instanceTypes(name: string): readonly InstanceType[] | MarketTrouble {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const nodeClass = this.#nodeClasses.get(name);
    if (nodeClass === undefined) return { problem: `there is no EC2NodeClass ${name}` };
    const regions = builtInRegions();
    if (!regions.includes(this.#region)) {
      const others = `it has ${regions.join(', ')}${hint(this.#region, regions)}`;
      return { problem: `the built-in catalogue does not have region ${this.#region}: ${others}` };
    }
    const types = this.#sold(nodeClass);
    this.#known.set(name, types);
    return types;
  }

  #sold(nodeClass: Ec2NodeClass): readonly InstanceType[] {
    const shapes = builtInShapes(this.#region);
    const { prices: onDemand } = builtInPrices(this.#region);
    const spot = new Map(
      [...shapes].map(([type, { zones }]) => {
        const price = (onDemand.get(type) ?? 0) * BUILT_IN_SPOT_SHARE;
        return [type, new Map(price > 0 ? [...zones].map((zone) => [zone, price]) : [])] as const;
      }),
    );
    const catalogue = new Ec2Catalogue({ region: this.#region, ...this.#settings });
    const prices = { onDemand, spot, version: 0 };
    return catalogue.instanceTypes(inAllZones(nodeClass, shapes), {
      shapes,
      shapesVersion: 0,
      prices,
      learnedVersion: 0,
    });
  }
}

/** A class whose subnets are unknown is assumed to have one in every zone. */
function inAllZones(nodeClass: Ec2NodeClass, shapes: Shapes): Ec2NodeClass {
  if ((nodeClass.status?.subnets ?? []).length > 0) return nodeClass;
  const zones = new Set([...shapes.values()].flatMap((sold) => [...sold.zones]));
  const subnets = [...zones].sort().map((zone) => ({ id: `subnet-${zone}`, zone }));
  return { ...nodeClass, status: { ...nodeClass.status, subnets } };
}

/** A node class that sells everything, for plans whose manifests include none. */
export function standInNodeClass(name: string): Ec2NodeClass {
  const any = { tags: { any: '*' } };
  return {
    apiVersion: `${EC2_NODE_CLASSES.group}/${EC2_NODE_CLASSES.version}`,
    kind: EC2_NODE_CLASSES.kind,
    metadata: { name },
    spec: withDefaults(EC2_NODE_CLASS_SPEC, {
      role: 'any',
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: [any],
      securityGroupSelectorTerms: [any],
    }),
  };
}
