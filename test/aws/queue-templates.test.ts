/** What `setup-queue --print` prints, before judges that others wrote. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { printCloudFormation } from '../../src/cloud/aws/setup/print-cloudformation.ts';
import { controllerPolicy, queuePlan } from '../../src/cloud/aws/setup/queue-plan.ts';
import { lintPython } from './peers/aws-lint.ts';

const folder = mkdtempSync(join(tmpdir(), 'spindrift-templates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('printed templates', { timeout: 120_000 }, () => {
  it.each(['prod', 'a-name-so-long-that-neither-rules-nor-queues-may-be-called-by-it-as-it-is-0123456789-0123456789'])(
    'pass cfn-lint: %s',
    async (cluster) => {
      const file = join(folder, 'template.json');
      writeFileSync(file, printCloudFormation(queuePlan(cluster)));
      const { status, stdout } = spawnSync(await lintPython(), ['-m', 'cfnlint', '-r', 'us-east-1', '-t', file]);
      expect([status, stdout.toString()]).toEqual([0, '']);
    },
  );

  it('pass parliament', async () => {
    const input = JSON.stringify(controllerPolicy('arn:aws:sqs:us-east-1:123456789012:spindrift-prod'));
    const { status, stdout } = spawnSync(await lintPython(), ['-m', 'parliament'], { input });
    expect([status, stdout.toString()]).toEqual([0, '']);
  });
});
