/** What the image is made of besides our own code: exact versions with the hashes of their files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Architectures that an image is made for, in the words of container images. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

type PerArchitecture = Readonly<Record<Architecture, string>>;

export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** The folder on a mirror of Debian. */
  readonly path: string;
  readonly sha256: PerArchitecture;
}

export interface Pins {
  /** The package `node-linux-*` of npm, which holds the official binary. */
  readonly node: { readonly version: string; readonly integrity: PerArchitecture };
  readonly debian: readonly DebianPackage[];
}

export function readPins(): Pins {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'pins.json'), 'utf8')) as Pins;
}
