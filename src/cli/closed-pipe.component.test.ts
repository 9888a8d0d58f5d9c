import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

it('ends without a word when nobody reads what it prints', async () => {
  const child = spawn(process.execPath, ['bin/spindrift.js', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const said = text(child.stderr);
  const [code] = await once(child, 'close');
  expect([code, await said]).toEqual([141, '']);
});
