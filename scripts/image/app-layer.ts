/** The highest layer: our own code, exactly the files that the npm package has, and the command `spindrift`. Tests are not among them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For `kubectl exec ... -- spindrift doctor`: the first line of bin/spindrift.js needs `env`, which the image does not have. */
const COMMAND = "#!/usr/local/bin/node\nimport('/app/bin/spindrift.js');\n";

export function appLayer(root: string, source: string): void {
  const app = join(root, 'app');
  mkdirSync(app, { recursive: true });
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  writeFileSync(join(root, 'usr/local/bin/spindrift'), COMMAND);
  const folder = mkdtempSync(join(tmpdir(), 'spindrift-image-'));
  try {
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
    const file = execFileSync('npm', args, { cwd: source, encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
    const unpack = ['--extract', '--gzip', '--file', join(folder, file), '--directory', app, '--strip-components=1'];
    execFileSync('tar', unpack);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
