/** The kubeconfig file through which kubectl finds the embedded cluster. */

import { readFileSync, rmSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, resolve } from 'node:path';
import { stringify } from 'yaml';
import { asError, SpindriftError } from '../platform/errors.ts';

/** The way to a cluster. */
export interface Access {
  readonly url: string;
  /** The certificate that signed the server's, in PEM; absent for a server without TLS. */
  readonly authority?: string;
  readonly token?: string;
}

const NAME = 'spindrift';
const FIRST_LINE = '# Written by the embedded cluster of Spindrift, which replaces it at every start.';

/** The text of the file. */
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

/** Writes the file, readable by its owner alone, in one step; a kubeconfig of someone else is never replaced. */
export async function writeKubeconfig(path: string, access: Access): Promise<void> {
  await checkKubeconfigPath(path);
  const temporary = `${path}.new`;
  await orUnwritable(path, async () => {
    await writeFile(temporary, kubeconfigText(access), { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  });
}

/** Fails when the file leads to a cluster that runs: whoever uses that would find himself in another one, and then in none. */
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

/** Fails early when the file could not be written later: its folder is made, and what is there must be ours. */
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

/** Takes the file away again when the cluster it leads to is gone, unless it leads to another by now. */
export async function removeKubeconfig(path: string, access: Access): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => '');
  if (present === kubeconfigText(access)) await orUnwritable(path, () => rm(path, { force: true }));
}

/** The same for a process that ends this moment and cannot wait. */
export function removeKubeconfigNow(path: string, access: Access): void {
  try {
    if (readFileSync(path, 'utf8') === kubeconfigText(access)) rmSync(path, { force: true });
  } catch {
    // It is gone already, or nobody is left who could be told.
  }
}

async function orUnwritable(path: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new SpindriftError('EMBEDDED_FILE_UNWRITABLE', { path, problem: asError(error).message }, { cause: error });
  }
}

/** One level and no more: a folder whose own folder is missing is a typing mistake, and Node tries for ever in some of them. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
