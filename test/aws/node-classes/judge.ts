/**
 * Writes ec2-node-class-verdicts.json: what a real API server with Karpenter's own CustomResourceDefinition makes of every
 * spec in manifests.ts. Run it again after changing them: `npm run aws:verdicts`. Needs Go, or both built before.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../src/kube/connect.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { ensureBinaries } from '../../kubernetes/harness/build.ts';
import { ControlPlane } from '../../kubernetes/harness/control-plane.ts';
import { Guard } from '../../kubernetes/harness/guard.ts';
import { KARPENTER, karpenterFiles } from '../peers/karpenter.ts';
import { tryAll, VERDICTS_FILE, type Verdicts } from './verdicts.ts';

const directory = mkdtempSync(join(tmpdir(), 'spindrift-verdicts-'));
const guard = new Guard({ directory });
const { crds } = await karpenterFiles();
const controlPlane = new ControlPlane({
  binaries: await ensureBinaries(),
  directory,
  guard,
  components: { controllerManager: false, scheduler: false, kwok: false },
});
await controlPlane.start();
try {
  const { kubectl, kubeconfig } = controlPlane;
  await kubectl.run(['create', '--filename', join(crds, 'karpenter.k8s.aws_ec2nodeclasses.yaml')]);
  await kubectl.run(['wait', '--for=condition=Established', 'crd/ec2nodeclasses.karpenter.k8s.aws', '--timeout=30s']);
  const { client, connection } = await connect({ clock: new RealClock(), kubeconfig });
  const verdicts: Verdicts = { karpenter: KARPENTER.name, verdicts: await tryAll(client) };
  await connection.close();
  writeFileSync(VERDICTS_FILE, `${JSON.stringify(verdicts, null, 2)}\n`);
  const accepted = verdicts.verdicts.filter((verdict) => verdict.accepted).length;
  process.stdout.write(`${verdicts.verdicts.length} specs: ${accepted} accepted\n`);
} finally {
  await controlPlane.stop();
  guard.dismiss();
  rmSync(directory, { recursive: true, force: true });
}
