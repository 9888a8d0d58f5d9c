/** The licences of all packages of the image in one text, and a refusal of those that we may not pass on as we do. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that ask for their text to be passed on, and for no more. */
const ALLOWED = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0'],
  ...['PSF-2.0', 'Python-2.0', 'Unlicense', 'Zlib'],
]);

export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** The files whose names say that they are a licence or a notice, as one text. */
  readonly text: string;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
}

/** Every package below a `node_modules`, sorted by name. */
export function installedPackages(modules: string): readonly InstalledPackage[] {
  const found = readdirSync(modules, { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => name === 'package.json' && isPackage(parentPath))
    .map(({ parentPath }) => read(parentPath))
    .filter((each) => each !== undefined);
  const key = ({ name, version }: InstalledPackage): string => `${name}@${version}`;
  const once = new Map(found.map((each) => [key(each), each]));
  return [...once.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Throws where a licence is unknown or not allowed. */
export function checkLicences(packages: readonly InstalledPackage[]): void {
  const wrong = packages.filter(({ licence }) => !isAllowed(licence));
  if (wrong.length === 0) return;
  const names = wrong.map(({ name, version, licence }) => `${name} ${version} (${licence || 'none named'})`);
  throw new Error(`the licence of these packages is not one of ${[...ALLOWED].join(', ')}: ${names.join(', ')}`);
}

export function licenceText(packages: readonly InstalledPackage[]): string {
  return packages
    .map(({ name, version, licence, text }) => `${name} ${version}\nLicence: ${licence}\n\n${text.trim()}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** `node_modules/NAME` or `node_modules/@SCOPE/NAME`; packages have further `package.json` files inside. */
function isPackage(folder: string): boolean {
  return /\/node_modules\/(@[^/]+\/)?[^/@][^/]*$/.test(folder);
}

function read(folder: string): InstalledPackage | undefined {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license, licenses } = manifest;
  if (name === undefined || version === undefined) return undefined;
  const named =
    typeof license === 'string' ? license : (license?.type ?? licenses?.map(({ type }) => type).join(' OR '));
  const text = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice)/i.test(entry.name))
    .map((entry) => entry.name)
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  return { name, version, licence: named ?? '', text: text.join('\n') };
}

/** `A OR B` lets us choose; `A AND B` asks for both. */
function isAllowed(licence: string): boolean {
  const plain = licence.replaceAll(/[()]/g, '');
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((each) => ALLOWED.has(each.trim())));
}
