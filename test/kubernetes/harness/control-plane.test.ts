import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { ControlPlane } from './control-plane.ts';
import { Guard } from './guard.ts';

it('fails at once, with the end of the log, when a program ends before it is ready', async () => {
  const { binaries, directory } = inject('controlPlane');
  const controlPlane = new ControlPlane({
    // Node rejects etcd's flags.
    binaries: { ...binaries, etcd: process.execPath },
    directory: join(directory, 'broken-etcd'),
    guard: new Guard(),
  });
  await expect(controlPlane.start()).rejects.toThrow(/^etcd ended with code 9; its log .* ends with\n.*bad option/s);
});
