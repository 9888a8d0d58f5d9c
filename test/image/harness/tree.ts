/** What a folder holds, as lines that can be compared: names, kinds, rights and contents. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** One line per file, sorted by path. */
export function treeOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const inside = path.slice(root.length);
      if (entry.isSymbolicLink()) return `${inside} -> ${readlinkSync(path)}`;
      const mode = (statSync(path).mode & 0o7777).toString(8);
      if (entry.isDirectory()) return `${inside}/ ${mode}`;
      return `${inside} ${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
    })
    .sort();
}
