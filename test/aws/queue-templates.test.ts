/** What `setup-queue --print` prints, before judges that others wrote. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { printCloudFormation } from '../../src/cloud/aws/setup/print-cloudformation.ts';
import { controllerPolicy, queuePlan } from '../../src/cloud/aws/setup/queue-plan.ts';
import { lintPython } from './peers/aws-lint.ts';

/** By their entry points: the scripts of a virtual environment know the folder it was made in. */
const CFN_LINT = 'import sys; from cfnlint.runner import main; sys.exit(main())';
const PARLIAMENT = 'import sys; from parliament.cli import cli; sys.exit(cli())';
const folder = mkdtempSync(join(tmpdir(), 'spindrift-templates-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('printed templates', { timeout: 120_000 }, () => {
  it.each(['prod', 'a-name-so-long-that-neither-rules-nor-queues-may-be-called-by-it-as-it-is-0123456789-0123456789'])(
    'pass cfn-lint: %s',
    async (cluster) => {
      const file = join(folder, 'template.json');
      writeFileSync(file, printCloudFormation(queuePlan(cluster)));
      const { status, stdout } = spawnSync(await lintPython(), ['-c', CFN_LINT, '-r', 'us-east-1', '-t', file]);
      expect([status, stdout.toString()]).toEqual([0, '']);
    },
  );

  it('pass parliament', async () => {
    const input = JSON.stringify(controllerPolicy('arn:aws:sqs:us-east-1:123456789012:spindrift-prod'));
    const { status, stdout } = spawnSync(await lintPython(), ['-c', PARLIAMENT], { input });
    expect([status, stdout.toString()]).toEqual([0, '']);
  });
});
