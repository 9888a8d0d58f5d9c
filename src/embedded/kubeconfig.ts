/** The kubeconfig file through which kubectl finds the embedded cluster. */

import { readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, resolve } from 'node:path';
import { stringify } from 'yaml';
import { asError, SpindriftError } from '../platform/errors.ts';

/** How to reach a cluster. */
export interface Access {
  readonly url: string;
  /** The CA certificate of the server, in PEM; absent for a server without TLS. */
  readonly authority?: string;
  readonly token?: string;
}

const NAME = 'spindrift';
const FIRST_LINE = '# Written by the embedded cluster of Spindrift, which replaces it at every start.';

/** The contents of the file. */
export function kubeconfigText(access: Access): string {
  const { url, authority, token } = access;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': NAME,
    clusters: [
      {
        name: NAME,
        cluster: {
          server: url,
          ...(authority === undefined
            ? {}
            : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
        },
      },
    ],
    users: [{ name: NAME, user: token === undefined ? {} : { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, namespace: 'default' } }],
  };
  return `${FIRST_LINE}\n${stringify(config)}`;
}

/** Writes the file atomically, readable only by its owner. A kubeconfig that is not ours is never replaced. */
export async function writeKubeconfig(path: string, access: Access): Promise<void> {
  await checkKubeconfigPath(path);
  const temporary = `${path}.new`;
  await orUnwritable(path, async () => {
    await writeFile(temporary, kubeconfigText(access), { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  });
}

/** Fails if the file leads to a running cluster: its users would end up in the new cluster, and later in none. */
export async function checkKubeconfigUnused(path: string): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => '');
  const url = /^ *server: (\S+)$/m.exec(present)?.[1];
  if (url !== undefined && (await isListening(new URL(url)))) {
    throw new SpindriftError('EMBEDDED_KUBECONFIG_IN_USE', { path, url });
  }
}

function isListening({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const answer = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}

/** Fails early if the file could not be written later: creates its folder, and checks that an existing file is ours. */
export async function checkKubeconfigPath(path: string): Promise<void> {
  await orUnwritable(path, () => makeFolder(dirname(resolve(path))));
  const present = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new SpindriftError('EMBEDDED_FILE_UNWRITABLE', { path, problem: error.message }, { cause: error });
  });
  if (present !== '' && !present.startsWith(FIRST_LINE)) {
    throw new SpindriftError('EMBEDDED_KUBECONFIG_FOREIGN', { path });
  }
}

/** Removes the file after its cluster has stopped, unless it leads to another cluster by then. */
export async function removeKubeconfig(path: string, access: Access): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => '');
  if (present === kubeconfigText(access)) await orUnwritable(path, () => rm(path, { force: true }));
}

/** The same for a process that is exiting and cannot wait. */
export function removeKubeconfigNow(path: string, access: Access): void {
  try {
    if (readFileSync(path, 'utf8') === kubeconfigText(access)) rmSync(path, { force: true });
  } catch {
    // The file is already gone, or the failure can no longer be reported.
  }
}

async function orUnwritable(path: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new SpindriftError('EMBEDDED_FILE_UNWRITABLE', { path, problem: asError(error).message }, { cause: error });
  }
}

/** Creates one level only: a missing parent folder is a typing mistake, and in some of them Node would try forever. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
