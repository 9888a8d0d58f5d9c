/** Python with the clouds' own SDKs, which judge our local servers; made once by `npm run peers:sdks`, in the cache of peers. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const PACKAGES = [
  'google-api-python-client==2.202.0',
  'google-cloud-compute==1.56.0',
  'azure-mgmt-compute==39.0.0',
  'azure-mgmt-network',
  'jsonschema',
];

/** The folder, whether it is there or not. */
export function sdksDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const cache = environment.SPINDRIFT_PEERS_CACHE || join(homedir(), '.cache', 'spindrift', 'peers');
  return join(cache, 'gcp-azure-sdks-1');
}

/** The interpreter; undefined where the SDKs have not been installed. */
export function findSdks(directory = sdksDirectory()): string | undefined {
  const python = join(directory, 'bin', 'python');
  return existsSync(join(directory, 'done')) ? python : undefined;
}

/** Installs what is missing; a minute the first time. */
export function ensureSdks(directory = sdksDirectory()): string {
  const present = findSdks(directory);
  if (present !== undefined) return present;
  mkdirSync(directory, { recursive: true });
  execFileSync('python3', ['-m', 'venv', directory], { stdio: 'inherit' });
  const python = join(directory, 'bin', 'python');
  execFileSync(python, ['-m', 'pip', 'install', '-q', ...PACKAGES], { stdio: 'inherit' });
  execFileSync('touch', [join(directory, 'done')]);
  return python;
}
