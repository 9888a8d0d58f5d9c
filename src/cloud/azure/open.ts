/** The driver for Azure, with credentials as Microsoft's libraries find them. */
import type { Cloud, CloudController } from '../cloud.ts';
import type { CloudWorld } from '../cloud-module.ts';
import { sendOverNetwork } from '../http-send.ts';
import { PlainNodeClassController } from '../plain-node-class-controller.ts';
import { ArmApi } from './arm-api.ts';
import { AzureDriver } from './azure-driver.ts';
import { azureToken } from './azure-token.ts';
import { InterfaceSweeper } from './interface-sweeper.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';

export interface AzureSettings {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly location: string;
  readonly endpoint: string;
}

export async function openAzure(world: CloudWorld, settings: AzureSettings): Promise<Cloud> {
  const { clock, client, logger, cluster, informers } = world;
  const { endpoint } = settings;
  const token = await azureToken(endpoint);
  const api = new ArmApi({ clock, send: sendOverNetwork, token, endpoint });
  const controllers: CloudController[] = [];
  const driver = new AzureDriver({ clock, api, cluster, controllers, ...settings });
  const kind = NODE_CLASS_KIND as never;
  controllers.push(
    new PlainNodeClassController({
      name: 'azure.nodeclass',
      client,
      clock,
      logger,
      kind,
      nodeClasses: informers.nodeClasses,
    }),
    new InterfaceSweeper({ clock, logger, interfaces: driver }),
  );
  return driver;
}
