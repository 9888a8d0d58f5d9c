/** cfn-lint and parliament: judges of CloudFormation templates and IAM policies. */
import { join } from 'node:path';
import { buildOnce, type Peer } from '../../peers/build-once.ts';

const PACKAGES = ['cfn-lint==1.58.0', 'parliament==1.6.4'] as const;

export const AWS_LINT: Peer = {
  name: 'aws-lint-1',
  async build(directory, run) {
    await run('python3', ['-m', 'venv', directory]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES];
    await run(join(directory, 'bin', 'python'), pip);
  },
};

/** The Python that has both, built first if need be. */
export async function lintPython(): Promise<string> {
  return join(await buildOnce(AWS_LINT), 'bin', 'python');
}
