import { ArmApi } from '../../../../src/cloud/azure/arm-api.ts';
import { AzureDriver } from '../../../../src/cloud/azure/azure-driver.ts';
import { InterfaceSweeper } from '../../../../src/cloud/azure/interface-sweeper.ts';
import { NODE_CLASS_KIND } from '../../../../src/cloud/azure/node-class-kind.ts';
import { azureVmSizes } from '../../../../src/cloud/azure/vm-sizes.ts';
import { type CloudUnderTest, describeCloud } from '../../../../src/cloud/cloud.conformance.ts';
import { aReadyNodeClass } from '../../../../src/cloud/testkit/opened-clouds.ts';
import type { RankedOffering } from '../../../../src/engine/solution.ts';
import { SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { ArmServer } from '../../../azure/arm-server.ts';

describeCloud('azure', async (): Promise<CloudUnderTest> => {
  const clock = new VirtualClock();
  const server = new ArmServer({ clock });
  const stop = new AbortController();
  const shape = azureVmSizes().find(({ name }) => name === 'Standard_D2s_v5')!;
  const offering = (zone: string, capacityType: 'spot' | 'on-demand'): RankedOffering => ({
    instanceType: shape.name,
    zone,
    capacityType,
    price: capacityType === 'spot' ? shape.spot : shape.onDemand,
  });
  return {
    clock,
    driver: () => {
      const api = new ArmApi({
        clock,
        send: (call, signal) => server.handle(call, signal),
        token: async () => 'token',
        endpoint: 'https://management.azure.com',
      });
      const driver = new AzureDriver({
        clock,
        api,
        subscription: 's',
        resourceGroup: 'Nodes',
        location: 'eastus',
        cluster: 'conformance',
      });
      void new InterfaceSweeper({ clock, logger: SILENT_LOGGER, interfaces: driver }).run(stop.signal);
      return driver;
    },
    nodeClass: aReadyNodeClass({ nodeClass: NODE_CLASS_KIND as never }, 'ready', {
      imageID: '/i',
      vnetSubnetID: '/subscriptions/s/n',
      sshPublicKey: 'ssh-rsa A',
    }),
    offerings: [offering('eastus-1', 'spot'), offering('eastus-2', 'spot'), offering('eastus-1', 'on-demand')],
    launches: () => server.launches,
    leftovers: () => server.leftovers,
    exhaust: ({ instanceType, zone, capacityType }) =>
      void server.exhausted.add(`${zone.at(-1)}/${instanceType}/${capacityType === 'spot' ? 'Spot' : 'Regular'}`),
    trouble: (trouble) => {
      server.trouble = trouble;
    },
    close: async () => stop.abort(),
    settle: (promise) => clock.run(promise),
    pass: (milliseconds) => clock.advance(milliseconds),
  };
});
