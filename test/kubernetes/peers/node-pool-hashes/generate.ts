/**
 * Makes the golden vectors of the NodePool hash anew: `node test/kubernetes/peers/node-pool-hashes/generate.ts`. It draws
 * templates, has Karpenter's own Go code hash them, and writes both to src/apis/karpenter/testkit/node-pool-hashes.json.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KARPENTER_VERSION } from '../karpenter.ts';
import { templates } from './templates.ts';

const GOLDEN = join(import.meta.dirname, '../../../../src/apis/karpenter/testkit/node-pool-hashes.json');

const directory = mkdtempSync(join(tmpdir(), 'spindrift-hashes-'));
try {
  copyFileSync(join(import.meta.dirname, 'main.go'), join(directory, 'main.go'));
  go('mod', 'init', 'hashes');
  go('mod', 'edit', '-require', `sigs.k8s.io/karpenter@v${KARPENTER_VERSION}`);
  // `-mod=mod` completes go.mod and go.sum from the module's own; `-trimpath` finds what the suite's build has compiled.
  go('build', '-mod=mod', '-trimpath', '-o', 'hashes', '.');
  const hashes = spawnSync(join(directory, 'hashes'), {
    // Taints may carry times, which Go hashes with the offset of its local zone.
    env: { TZ: 'UTC' },
    input: JSON.stringify(templates()),
    encoding: 'utf8',
  });
  if (hashes.status !== 0) throw new Error(`the Go program failed: ${hashes.stderr}`);
  writeFileSync(GOLDEN, hashes.stdout);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function go(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('go', args, { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`go ${args[0]} failed: ${stderr}`);
}
