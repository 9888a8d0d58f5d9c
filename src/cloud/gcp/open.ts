/** The driver for Compute Engine, with credentials as Google's libraries find them. */
import type { Cloud } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import { sendOverNetwork } from '../http-send.ts';
import { PlainNodeClassController } from '../plain-node-class-controller.ts';
import { ComputeApi } from './compute-api.ts';
import { GcpDriver } from './gcp-driver.ts';
import { googleToken } from './google-token.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';

export interface GcpSettings {
  readonly project: string;
  readonly region: string;
  readonly endpoint: string;
}

export async function openGcp(world: CloudWorld, { project, region, endpoint }: GcpSettings): Promise<Cloud> {
  const { clock, client, logger, cluster, informers } = world;
  const token = await googleToken(endpoint);
  const api = new ComputeApi({ clock, send: sendOverNetwork, token, endpoint, project });
  const kind = NODE_CLASS_KIND as never;
  const { nodeClasses } = informers;
  const controllers = [
    new PlainNodeClassController({ name: 'gcp.nodeclass', client, clock, logger, kind, nodeClasses }),
  ];
  return new GcpDriver({ clock, api, project, region, cluster, controllers });
}
