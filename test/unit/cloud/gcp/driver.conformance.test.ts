import { type CloudUnderTest, describeCloud } from '../../../../src/cloud/cloud.conformance.ts';
import { ComputeApi } from '../../../../src/cloud/gcp/compute-api.ts';
import { GcpDriver } from '../../../../src/cloud/gcp/gcp-driver.ts';
import { gcpMachineTypes } from '../../../../src/cloud/gcp/machine-types.ts';
import { NODE_CLASS_KIND } from '../../../../src/cloud/gcp/node-class-kind.ts';
import { aReadyNodeClass } from '../../../../src/cloud/testkit/opened-clouds.ts';
import type { RankedOffering } from '../../../../src/engine/solution.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { ComputeServer } from '../../../gcp/compute-server.ts';

describeCloud('gcp', async (): Promise<CloudUnderTest> => {
  const clock = new VirtualClock();
  const server = new ComputeServer({ clock });
  const shape = gcpMachineTypes().find(({ name }) => name === 'e2-standard-2')!;
  const offering = (zone: string, capacityType: 'spot' | 'on-demand'): RankedOffering => ({
    instanceType: shape.name,
    zone,
    capacityType,
    price: capacityType === 'spot' ? shape.spot : shape.onDemand,
  });
  return {
    clock,
    driver: () => {
      const api = new ComputeApi({
        clock,
        send: (call, signal) => server.handle(call, signal),
        token: async () => 'token',
        endpoint: 'https://compute.googleapis.com/compute/v1',
        project: 'p',
      });
      return new GcpDriver({ clock, api, project: 'p', region: 'us-central1', cluster: 'Conformance.Cluster' });
    },
    nodeClass: aReadyNodeClass({ nodeClass: NODE_CLASS_KIND as never }, 'ready', {
      imageSelectorTerms: [{ id: 'projects/p/global/images/node' }],
    }),
    offerings: [
      offering('us-central1-a', 'spot'),
      offering('us-central1-b', 'spot'),
      offering('us-central1-a', 'on-demand'),
    ],
    launches: () => server.launches,
    leftovers: () => server.instances,
    exhaust: ({ instanceType, zone, capacityType }) =>
      void server.exhausted.add(`${zone}/${instanceType}/${capacityType === 'spot' ? 'SPOT' : 'STANDARD'}`),
    trouble: (trouble) => {
      server.trouble = trouble;
    },
    settle: (promise) => clock.run(promise),
    pass: (milliseconds) => clock.advance(milliseconds),
  };
});
