/** Gives every file of a folder the same owner's rights and the same time, so that two builds are equal byte for byte. */
import { chmodSync, lutimesSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Programs; everything else is only read. */
const EXECUTABLE = /^(usr\/local\/bin\/(node|spindrift)|app\/bin\/spindrift\.js|lib(64)?\/(.*\/)?ld-.*)$/;
/** Folders that the program may write to when no volume is mounted over them. */
const WRITABLE = new Set(['tmp', 'cache']);

export function settle(root: string): void {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const inside = path.slice(root.length + 1);
    if (!entry.isSymbolicLink()) {
      const file = EXECUTABLE.test(inside) ? 0o755 : 0o644;
      const folder = WRITABLE.has(inside) ? 0o1777 : 0o755;
      chmodSync(path, entry.isDirectory() ? folder : file);
    }
    lutimesSync(path, 0, 0);
  }
  chmodSync(root, 0o755);
  lutimesSync(root, 0, 0);
}
