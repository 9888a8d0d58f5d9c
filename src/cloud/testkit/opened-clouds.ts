/** Opens a driver as the only enabled cloud, with ready node classes: for tests of the layers above drivers. */

import type { Clock } from '../../platform/clock.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import type { Cloud } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import { EnabledClouds } from '../clouds.ts';
import { EnabledCloud } from '../enabled-cloud.ts';
import { type NodeClass, nodeClassKey } from '../node-class-kind.ts';
import { UnavailableOfferings } from '../unavailable-offerings.ts';

export interface OpenedCloudsOptions {
  readonly cloud: Cloud;
  readonly clock: Clock;
  readonly unavailable?: UnavailableOfferings;
  /** The node class of a name; default: a ready one. */
  readonly nodeClass?: (name: string) => NodeClass | undefined;
}

const NEVER = new AbortController().signal;

/** Opens the clouds. */
export async function openedClouds(options: OpenedCloudsOptions): Promise<EnabledClouds> {
  const { cloud, clock, unavailable = new UnavailableOfferings({ clock }) } = options;
  const { nodeClass = (name) => aReadyNodeClass(cloud, name) } = options;
  const synced = async (): Promise<void> => {};
  const informer = { synced, get: nodeClass, addHandler: () => () => {} };
  const informers = { nodeClasses: informer, nodeClaims: informer, nodePools: informer, nodes: informer };
  const world = { clock, logger: SILENT_LOGGER, informers } as unknown as CloudWorld;
  const loaded = { name: cloud.name, nodeClass: cloud.nodeClass, labels: cloud.labels, open: async () => cloud };
  const enabled = new EnabledCloud({ loaded, world, unavailable });
  await enabled.run(NEVER);
  return new EnabledClouds([enabled]);
}

/** A ready node class of a cloud. */
export function aReadyNodeClass(cloud: Pick<Cloud, 'nodeClass'>, name: string, spec: object = {}): NodeClass {
  const { resource, conditions } = cloud.nodeClass;
  const ready = { type: conditions.root, status: 'True', observedGeneration: 1 } as const;
  return {
    apiVersion: `${nodeClassKey(resource).split('/')[0]}/${resource.version}`,
    kind: resource.kind,
    metadata: { name, uid: `uid-${name}`, generation: 1 },
    spec,
    status: { conditions: [ready] },
  };
}
