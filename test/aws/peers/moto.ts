/** moto and boto3 in a Python environment of their own: the first plays AWS in tests, the second judges how well. */
import { join } from 'node:path';
import { buildOnce, type Peer } from '../../peers/build-once.ts';

/** The versions are exact, and so are the answers the tests were written for. */
const PACKAGES = ['moto[server]==5.2.5', 'boto3==1.43.46', 'botocore==1.43.46'] as const;

export const MOTO: Peer = {
  name: 'moto-5.2.5',
  async build(directory, run) {
    await run('python3', ['-m', 'venv', directory]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES];
    await run(join(directory, 'bin', 'python'), pip);
  },
};

/** The Python that has moto and boto3, built first if need be. */
export async function motoPython(): Promise<string> {
  return join(await buildOnce(MOTO), 'bin', 'python');
}
