import { inject } from 'vitest';
import { describeKubeClient } from '../../src/kube/client.conformance.ts';
import { connect } from '../../src/kube/connect.ts';
import { RealClock } from '../../src/platform/real-clock.ts';

describeKubeClient('over HTTP to kube-apiserver', async () => {
  const { kubeconfig } = inject('controlPlane');
  const { client, connection } = await connect({ clock: new RealClock(), kubeconfig });
  return { client, close: () => connection.close() };
});
