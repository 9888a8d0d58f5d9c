/**
 * The real core manager of Cluster API, built once with Go into the cache of peers, with its CRDs and webhook manifest
 * beside it. The folder appears under its final name only when everything is in it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const GO_MODULE = join(import.meta.dirname, '..', 'cluster-api');
const VERSION = '1.14.2';

/** The program and the manifests that come with it. */
export interface ClusterApiCore {
  readonly manager: string;
  /** A folder of CustomResourceDefinitions, one per file. */
  readonly definitions: string;
  /** The webhook configurations, one file. */
  readonly webhooks: string;
}

/** Where the build is kept, whether it is there or not. */
export function clusterApiDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const cache = environment.SPINDRIFT_PEERS_CACHE || join(homedir(), '.cache', 'spindrift', 'peers');
  return join(cache, `cluster-api-core-${VERSION}`);
}

/** The build, or undefined when it has not been made. */
export function findClusterApiCore(directory = clusterApiDirectory()): ClusterApiCore | undefined {
  if (!existsSync(directory)) return undefined;
  return {
    manager: join(directory, 'core'),
    definitions: join(directory, 'crds'),
    webhooks: join(directory, 'webhooks.yaml'),
  };
}

/** Builds what is missing; minutes the first time. */
export function ensureClusterApiCore(directory = clusterApiDirectory()): ClusterApiCore {
  const present = findClusterApiCore(directory);
  if (present !== undefined) return present;
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.unfinished-`);
  try {
    const go = (...args: string[]): string =>
      execFileSync('go', args, {
        cwd: GO_MODULE,
        encoding: 'utf8',
        env: { ...process.env, GOTMPDIR: unfinished },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    go('build', '-trimpath', '-ldflags=-s -w', `-o=${join(unfinished, 'core')}`, 'sigs.k8s.io/cluster-api/core');
    const source = go('list', '-m', '-f={{.Dir}}', 'sigs.k8s.io/cluster-api').trim();
    cpSync(join(source, 'core', 'config', 'crd', 'bases'), join(unfinished, 'crds'), { recursive: true });
    cpSync(join(source, 'core', 'config', 'webhook', 'manifests.yaml'), join(unfinished, 'webhooks.yaml'));
    execFileSync('chmod', ['-R', 'u+w', unfinished]);
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return findClusterApiCore(directory) as ClusterApiCore;
}
