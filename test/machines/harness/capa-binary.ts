/**
 * The real AWS provider of Cluster API (CAPA), built once with Go into the cache of peers, with its definitions and webhook manifest beside
 * it. It is built in a copy of its own module, so that its own versions of libraries count. The folder appears under its final name only when everything is in it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const MODULE = 'sigs.k8s.io/cluster-api-provider-aws/v2';
const VERSION = '2.13.0';

/** The program and the manifests that come with it. */
export interface Capa {
  readonly manager: string;
  /** A folder of CustomResourceDefinitions, one per file. */
  readonly definitions: string;
  /** The webhook configurations, one file. */
  readonly webhooks: string;
}

/** Where the build is kept, whether it is there or not. */
export function capaDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const cache = environment.SPINDRIFT_PEERS_CACHE || join(homedir(), '.cache', 'spindrift', 'peers');
  return join(cache, `cluster-api-provider-aws-${VERSION}`);
}

/** The build, or undefined when it has not been made. */
export function findCapa(directory = capaDirectory()): Capa | undefined {
  if (!existsSync(directory)) return undefined;
  return {
    manager: join(directory, 'capa'),
    definitions: join(directory, 'crds'),
    webhooks: join(directory, 'webhooks.yaml'),
  };
}

/** Builds what is missing; many minutes the first time. */
export function ensureCapa(directory = capaDirectory()): Capa {
  const present = findCapa(directory);
  if (present !== undefined) return present;
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}.unfinished-`);
  const source = mkdtempSync(join(tmpdir(), 'spindrift-capa-'));
  try {
    const go = (...args: string[]): string =>
      execFileSync('go', args, {
        cwd: source,
        encoding: 'utf8',
        env: { ...process.env, GOTMPDIR: unfinished },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    const { Dir } = JSON.parse(go('mod', 'download', '-json', `${MODULE}@v${VERSION}`)) as { Dir: string };
    cpSync(Dir, source, { recursive: true });
    execFileSync('chmod', ['-R', 'u+w', source]);
    go('build', '-trimpath', '-ldflags=-s -w', `-o=${join(unfinished, 'capa')}`, '.');
    cpSync(join(source, 'config', 'crd', 'bases'), join(unfinished, 'crds'), { recursive: true });
    cpSync(join(source, 'config', 'webhook', 'manifests.yaml'), join(unfinished, 'webhooks.yaml'));
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
  return findCapa(directory) as Capa;
}
