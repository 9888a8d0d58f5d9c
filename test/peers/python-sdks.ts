/** Python with the clouds' own SDKs, which check our local servers; installed once by `npm run peers:sdks`, in the cache of peers. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildOnce, isBuilt, type Peer, peerDirectory } from './build-once.ts';

const PACKAGES = [
  'google-api-python-client==2.202.0',
  'google-cloud-compute==1.56.0',
  'azure-mgmt-compute==39.0.0',
  'azure-mgmt-network==33.1.0',
  'jsonschema==4.25.1',
];

const SDKS: Peer = {
  name: 'gcp-azure-sdks-1',
  async build(directory, run) {
    await run('python3', ['-m', 'venv', directory]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PACKAGES];
    await run(join(directory, 'bin', 'python'), pip);
  },
};

/** The interpreter; undefined if the SDKs have not been installed. */
export function findSdks(): string | undefined {
  return isBuilt(SDKS) ? join(peerDirectory(SDKS.name), 'bin', 'python') : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildOnce(SDKS);
