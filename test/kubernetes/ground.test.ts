import { inject } from 'vitest';
import { connect } from '../../src/kube/connect.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { describeGround } from '../kinds/ground.conformance.ts';

const POLL_MS = 200;
const clock = new RealClock();

describeGround(
  'on kube-apiserver',
  async () => {
    const { kubeconfig } = inject('controlPlane');
    const { client, connection } = await connect({ clock, kubeconfig });
    return { client, close: () => connection.close() };
  },
  () => clock.sleep(POLL_MS),
);
