import type { CloudWorld, LoadedCloud } from '../cloud/cloud-module.ts';
import { EnabledClouds } from '../cloud/clouds.ts';
import { EnabledCloud } from '../cloud/enabled-cloud.ts';
import { type NodeClass, nodeClassKey } from '../cloud/node-class-kind.ts';
import type { NamedConditions } from '../cloud/node-conditions/notices-of-node.ts';
import type { UnavailableOfferings } from '../cloud/unavailable-offerings.ts';
import type { Informer } from '../kube/informer.ts';
import type { ClusterInformers } from '../state/cluster-informers.ts';

export interface EnabledCloudsOptions extends Omit<CloudWorld, 'informers'> {
  readonly informers: ClusterInformers;
  readonly unavailable: UnavailableOfferings;
  /** Node conditions to treat as interruption notices, beside the built-in ones. */
  readonly dangerousConditions?: NamedConditions;
}

/** Builds the enabled clouds with their informers; nothing is opened before `run`. */
export function enabledClouds(
  clouds: readonly LoadedCloud[],
  { informers, unavailable, dangerousConditions, ...world }: EnabledCloudsOptions,
): EnabledClouds {
  const { nodeClaims, nodePools, nodes } = informers;
  return new EnabledClouds(
    clouds.map((loaded) => {
      const nodeClasses = informers.nodeClasses.get(nodeClassKey(loaded.nodeClass.resource)) as Informer<NodeClass>;
      const own = { ...world, informers: { nodeClasses, nodeClaims, nodePools, nodes } };
      return new EnabledCloud({ loaded, world: own, unavailable, ...(dangerousConditions && { dangerousConditions }) });
    }),
  );
}
