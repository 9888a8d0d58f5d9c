import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';

/** Runs this ring as if on a machine that has no Go and never built a control plane. */
function runWithoutGo(environment: NodeJS.ProcessEnv): { status: number | null; stdout: string } {
  const root = join(import.meta.dirname, '..', '..');
  return spawnSync(process.execPath, [join(root, 'scripts', 'test.ts'), 'kubernetes'], {
    encoding: 'utf8',
    env: { PATH: '', SPINDRIFT_CONTROL_PLANE_CACHE: join(inject('controlPlane').directory, 'nothing'), ...environment },
  });
}

describe('the kubernetes ring where there is neither Go nor a control plane built before', () => {
  it('is skipped, and says so in one line', () => {
    const { status, stdout } = runWithoutGo({});
    expect(stdout).toMatch(/skipped: no Go on the PATH .*\/nothing\//);
    expect(status).toBe(0);
  });

  it('fails when it is required', () => {
    const { status, stdout } = runWithoutGo({ SPINDRIFT_REQUIRE_KUBERNETES: '1' });
    expect(stdout).toMatch(/FAILED: SPINDRIFT_REQUIRE_KUBERNETES=1, but no Go on the PATH/);
    expect(status).toBe(1);
  });
});
