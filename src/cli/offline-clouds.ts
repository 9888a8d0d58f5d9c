/** The clouds of node classes in a cluster or manifests, for commands that plan without a running autoscaler. */
import { CLOUD_MODULES } from '../app/cloud-modules.ts';
import type { CloudLabels } from '../cloud/cloud.ts';
import type { LoadedCloud, MarketTrouble, OfflineMarket, OfflineOptions } from '../cloud/cloud-module.ts';
import { type NodeClass, type NodeClassReference, nodeClassKey } from '../cloud/node-class-kind.ts';
import type { InstanceType, Labels } from '../engine/problem.ts';

/** Instance types that are known without calling a cloud. */
export interface OfflineClouds {
  instanceTypes(nodeClass: NodeClassReference): readonly InstanceType[] | MarketTrouble;
}

export class KnownClouds {
  readonly #clouds: ReadonlyMap<string, LoadedCloud>;

  private constructor(clouds: ReadonlyMap<string, LoadedCloud>) {
    this.#clouds = clouds;
  }

  /** Loads the clouds that own node classes of these kinds. */
  static async load(kinds: Iterable<{ readonly group: string; readonly kind: string }>): Promise<KnownClouds> {
    const wanted = new Set([...kinds].map(nodeClassKey));
    const modules = CLOUD_MODULES.filter(({ kind }) => wanted.has(nodeClassKey(kind)));
    const loaded = await Promise.all(modules.map((module) => module.load({})));
    return new KnownClouds(new Map(loaded.map((cloud) => [nodeClassKey(cloud.nodeClass.resource), cloud])));
  }

  /** The loaded clouds. */
  list(): readonly LoadedCloud[] {
    return [...this.#clouds.values()];
  }

  /** The cloud of a node class. */
  of(nodeClass: { readonly group: string; readonly kind: string }): LoadedCloud | undefined {
    return this.#clouds.get(nodeClassKey(nodeClass));
  }

  labelsOf(nodeClass: { readonly group: string; readonly kind: string }): CloudLabels | undefined {
    return this.of(nodeClass)?.labels;
  }

  /** The reservation that the labels of a node name. */
  reservationOf(labels: Labels): string | undefined {
    for (const { labels: names } of this.list()) {
      const found = names.reservation === undefined ? undefined : labels[names.reservation];
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The instance types of these node classes. */
  market(options: OfflineOptions): OfflineClouds {
    const markets = new Map(
      [...this.#clouds].map(([key, cloud]): [string, OfflineMarket | undefined] => {
        const { group, kind } = cloud.nodeClass.resource;
        const nodeClasses = options.nodeClasses.filter((each) => isOfKind(each, group, kind));
        return [key, cloud.offline?.({ ...options, nodeClasses })];
      }),
    );
    return {
      instanceTypes: (nodeClass) =>
        markets.get(nodeClassKey(nodeClass))?.instanceTypes(nodeClass.name) ?? {
          problem: `the instance types of ${nodeClass.kind} are known to its cloud only, which this command does not call`,
        },
    };
  }
}

function isOfKind({ apiVersion, kind }: NodeClass, group: string, wanted: string): boolean {
  return kind === wanted && apiVersion.startsWith(`${group}/`);
}
