/** How a container of the image starts: the same in the Dockerfile, which a test compares with this. */
import { NON_ROOT } from './system-layer.ts';

/** Node's flags are those of the first line of bin/spindrift.js. */
export const ENTRYPOINT = [
  '/usr/local/bin/node',
  '--max-semi-space-size=4',
  '--v8-pool-size=2',
  '/app/bin/spindrift.js',
];
export const COMMAND = ['run'];
export const ENVIRONMENT = {
  NODE_ENV: 'production',
  PATH: '/usr/local/bin',
  // Compiled code; mount a volume over it where the root is read-only.
  NODE_COMPILE_CACHE: '/cache',
};
export const USER = `${NON_ROOT}:${NON_ROOT}`;
export const WORKING_DIRECTORY = '/app';
export const LABELS = {
  'org.opencontainers.image.title': 'spindrift',
  'org.opencontainers.image.licenses': 'Apache-2.0',
};
