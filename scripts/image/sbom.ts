/** The bill of materials of an image in CycloneDX: npm's own list of our packages, and beside it Node and the system's libraries. */
import { execFileSync } from 'node:child_process';
import type { Architecture, Pins } from './pins.ts';

interface Component {
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly externalReferences?: readonly { readonly type: string }[];
  readonly [field: string]: unknown;
}

interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly object[];
  readonly [field: string]: unknown;
}

/** `app` is a folder with the lockfile. */
export function billOfMaterials(app: string, pins: Pins, architecture: Architecture): string {
  const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const printed = execFileSync('npm', args, { cwd: app, encoding: 'utf8', maxBuffer: 1 << 26 });
  return withoutChance(JSON.parse(printed) as Bom, systemComponents(pins, architecture));
}

/** The text without what differs between two builds of the same commit: when, by what and from where. */
export function withoutChance(bom: Bom, more: readonly Component[]): string {
  const { serialNumber: _, metadata, components, ...rest } = bom;
  const all = [...components.map(withoutPlace), ...more].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return `${JSON.stringify({ ...rest, metadata: { component: withoutPlace(metadata.component) }, components: all }, null, 1)}\n`;
}

function systemComponents({ node, debian }: Pins, architecture: Architecture): Component[] {
  const purl = (name: string, version: string): string =>
    `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`;
  return [
    {
      'bom-ref': `node@${node.version}`,
      type: 'application',
      name: 'node',
      version: node.version,
      purl: `pkg:generic/node@${node.version}`,
      licenses: [{ license: { id: 'MIT' } }],
    },
    ...debian.map(({ name, version }) => ({
      'bom-ref': `debian/${name}@${version}`,
      type: 'library',
      name,
      version,
      purl: purl(name, version),
    })),
  ];
}

/** The address that a package was downloaded from depends on the configuration of the machine. */
function withoutPlace(component: Component): Component {
  const { externalReferences, ...rest } = component;
  const kept = externalReferences?.filter(({ type }) => type !== 'distribution') ?? [];
  return kept.length === 0 ? rest : { ...rest, externalReferences: kept };
}

function nameOf({ name, version }: Component): string {
  return `${name}@${version}`;
}
