/** The middle layer: the packages that the program needs at run time, as the lockfile names them. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, join } from 'node:path';

const MANIFESTS = ['package.json', 'package-lock.json', '.npmrc'];

/** For editors, debuggers, browsers, bundlers and test runners; Node loads none of them. */
const UNUSED_FILES = /\.(d\.[cm]?ts|map|md|markdown|flow|tsbuildinfo)$/;
const UNUSED_FOLDERS =
  /\/(@types|\.bin)$|\/dist\/(browser|react-native)$|\/dist-types$|\/node_modules\/(@[^/]+\/)?[^/@][^/]*\/(tests?|__tests__)$/;

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
}

/** Puts the packages into `app/node_modules` below the root, and gives the folder `app`. */
export function modulesLayer(root: string, source: string): string {
  const app = join(root, 'app');
  mkdirSync(app, { recursive: true });
  for (const file of MANIFESTS) copyFileSync(join(source, file), join(app, file));
  if (isInstalled(source)) copyInstalled(app, source);
  else {
    // No package has a native part, so the same files serve every architecture; and none may run a script here.
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--loglevel=error'], {
      cwd: app,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return app;
}

/** Whether the packages of the lockfile are there already, as scripts/install-if-needed.js sees it. */
function isInstalled(source: string): boolean {
  const done = join(source, 'node_modules', '.package-lock.json');
  return existsSync(done) && statSync(done).mtimeMs >= statSync(join(source, 'package-lock.json')).mtimeMs;
}

/** The same files as npm would install: the lockfile says which folders they are in, and which are for development. */
function copyInstalled(app: string, source: string): void {
  const { packages } = JSON.parse(readFileSync(join(source, 'package-lock.json'), 'utf8')) as Lock;
  for (const [path, { dev = false, devOptional = false }] of Object.entries(packages)) {
    if (path === '' || dev || devOptional || !existsSync(join(source, path))) continue;
    const folder = realpathSync(join(source, path));
    // Packages within it have entries of their own; folders of that name further down are files of the package.
    const filter = (file: string): boolean => file !== join(folder, 'node_modules') && !isUnused(file);
    cpSync(folder, join(app, path), { recursive: true, filter });
  }
}

/** Takes away what only a developer uses, once SBOM and licences have been read. */
export function prune(app: string): void {
  for (const file of [...MANIFESTS, 'node_modules/.package-lock.json']) rmSync(join(app, file), { force: true });
  const modules = join(app, 'node_modules');
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory() ? UNUSED_FOLDERS.test(path) : isUnused(path))
      rmSync(path, { recursive: true, force: true });
  }
}

function isUnused(file: string): boolean {
  return UNUSED_FILES.test(file) && !/^(licen[cs]e|copying|notice)/i.test(basename(file));
}
