/** The files of an image as one folder, from its layers; files are linked, not copied. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assemble, LAYERS } from '../../../scripts/image/assemble.ts';
import type { Architecture } from '../../../scripts/image/pins.ts';

/** The architecture of this machine, in the words of images. */
export const OWN_ARCHITECTURE: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Assembles the image of a source folder below `folder`, and gives its root. */
export async function imageRoot(folder: string, source?: string): Promise<string> {
  await assemble(join(folder, 'layers'), OWN_ARCHITECTURE, source);
  return merge(join(folder, 'layers'), join(folder, 'root'));
}

/** Puts assembled layers above each other, and gives the folder. */
export function merge(layers: string, root: string): string {
  mkdirSync(root, { recursive: true });
  for (const layer of LAYERS) execFileSync('cp', ['--archive', '--link', '--force', `${join(layers, layer)}/.`, root]);
  return root;
}
