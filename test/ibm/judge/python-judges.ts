/**
 * Python programs that judge what we write: the official VPC SDK, and cloud-init's own checker of user data. They are put
 * once into a virtual environment in the user's cache, from PyPI and from Debian's archive.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildOnce, type Peer } from '../../peers/build-once.ts';

const run = promisify(execFile);

const SDK = 'ibm-vpc==0.36.0';
/** What cloud-init imports; Debian would install them as packages of its own. */
const NEEDED_BY_CLOUD_INIT = [
  'PyYAML==6.0.3',
  'jsonschema==4.25.1',
  'jinja2==3.1.6',
  'configobj==5.0.9',
  'jsonpatch==1.33',
  'oauthlib==3.3.1',
  'netifaces==0.11.0',
];
const CLOUD_INIT = 'http://deb.debian.org/debian/pool/main/c/cloud-init/cloud-init_22.4.2-1%2bdeb12u4_all.deb';

export interface PythonJudges {
  readonly python: string;
  /** Where cloud-init's modules are. */
  readonly cloudInit: string;
}

const JUDGES: Peer = {
  name: 'ibm-judges-2',
  async build(directory, run) {
    await run('python3', ['-m', 'venv', directory]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    const wheels = ['--only-binary', ':all:', '--no-binary', 'netifaces'];
    await run(judgesIn(directory).python, [...pip, ...wheels, SDK, ...NEEDED_BY_CLOUD_INIT]);
    const answer = await fetch(CLOUD_INIT);
    if (!answer.ok) throw new Error(`${CLOUD_INIT}: ${answer.status}`);
    const archive = join(directory, 'cloud-init.deb');
    await writeFile(archive, Buffer.from(await answer.arrayBuffer()));
    await run('dpkg-deb', ['-x', archive, join(directory, 'cloud-init')]);
  },
};

function judgesIn(directory: string): PythonJudges {
  return {
    python: join(directory, 'bin', 'python'),
    cloudInit: join(directory, 'cloud-init', 'usr', 'lib', 'python3', 'dist-packages'),
  };
}

/** The judges, installed first where they are not there; a sentence where that cannot be done. */
export async function pythonJudges(): Promise<PythonJudges | string> {
  try {
    return judgesIn(await buildOnce(JUDGES));
  } catch (error) {
    return `the Python judges cannot be installed: ${error instanceof Error ? error.message.split('\n')[0] : error}`;
  }
}

/** Runs one to its end; what it prints, or an error with what it said. */
export async function judge(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  try {
    const { stdout } = await run(program, [...args], { timeout: 120_000, env: { ...process.env, ...env } });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args[0]} refused:\n${stdout}${stderr}`);
  }
}
