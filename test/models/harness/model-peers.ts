/**
 * The real managers of llmaz and LeaderWorkerSet, built once with Go into the cache of peers, with their CRDs and webhook
 * manifests beside them. The folder appears under its final name only when everything is in it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const HERE = join(import.meta.dirname, '..');
const VERSIONS = { lws: '0.9.0', llmaz: '0.1.0' } as const;

/** A program and the manifests that come with it. */
export interface Peer {
  readonly manager: string;
  /** A folder of CustomResourceDefinitions, one per file. */
  readonly definitions: string;
  /** The webhook configurations, one file. */
  readonly webhooks: string;
}

export interface ModelPeers {
  readonly lws: Peer;
  readonly llmaz: Peer;
}

/** Where the build is kept, whether it is there or not. */
export function modelPeersDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const cache = environment.SPINDRIFT_PEERS_CACHE || join(homedir(), '.cache', 'spindrift', 'peers');
  return join(cache, `llmaz-${VERSIONS.llmaz}-lws-${VERSIONS.lws}-1`);
}

/** The build, or undefined when it has not been made. */
export function findModelPeers(directory = modelPeersDirectory()): ModelPeers | undefined {
  if (!existsSync(directory)) return undefined;
  const peer = (name: string): Peer => ({
    manager: join(directory, name, 'manager'),
    definitions: join(directory, name, 'crds'),
    webhooks: join(directory, name, 'webhooks.yaml'),
  });
  return { lws: peer('lws'), llmaz: peer('llmaz') };
}

/** Builds what is missing; minutes the first time. */
export function ensureModelPeers(directory = modelPeersDirectory()): ModelPeers {
  const present = findModelPeers(directory);
  if (present !== undefined) return present;
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.unfinished-`);
  try {
    build(unfinished, 'lws', 'sigs.k8s.io/lws/cmd', 'sigs.k8s.io/lws');
    build(unfinished, 'llmaz', '.', 'github.com/inftyai/llmaz');
    execFileSync('chmod', ['-R', 'u+w', unfinished]);
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return findModelPeers(directory) as ModelPeers;
}

function build(folder: string, name: string, program: string, module: string): void {
  const target = join(folder, name);
  mkdirSync(target);
  const go = (...args: string[]): string =>
    execFileSync('go', args, {
      cwd: join(HERE, name),
      encoding: 'utf8',
      env: { ...process.env, GOTMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  go('build', '-trimpath', '-ldflags=-s -w', `-o=${join(target, 'manager')}`, program);
  const source = go('list', '-m', '-f={{.Dir}}', module).trim();
  cpSync(join(source, 'config', 'crd', 'bases'), join(target, 'crds'), { recursive: true });
  cpSync(join(source, 'config', 'webhook', 'manifests.yaml'), join(target, 'webhooks.yaml'));
}
