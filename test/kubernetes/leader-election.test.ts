/** Leader election between processes, on a real Lease. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { LEASES } from '../../src/apis/kubernetes/lease.ts';
import { connect } from '../../src/kube/connect.ts';
import { RealClock } from '../../src/platform/real-clock.ts';

const CANDIDATE = join(dirname(fileURLToPath(import.meta.url)), 'candidate.ts');

interface Candidate {
  readonly process: ChildProcess;
  /** The next line it says. */
  next(): Promise<string>;
}

describe('leader election between two processes', () => {
  const { kubeconfig } = inject('controlPlane');
  const candidates: Candidate[] = [];
  let lease: string;
  let serial = 0;

  beforeEach(() => {
    lease = `election-${++serial}`;
  });

  afterEach(async () => {
    for (const { process } of candidates.splice(0)) {
      if (process.exitCode !== null || process.signalCode !== null) continue;
      process.kill('SIGKILL');
      await once(process, 'exit');
    }
  });

  const start = async (identity: string): Promise<Candidate> => {
    const child = spawn(process.execPath, [CANDIDATE, kubeconfig, identity, lease], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const reader: Interface = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    const candidate = {
      process: child,
      next: async (): Promise<string> => {
        const { value, done } = await lines.next();
        return done ? 'ended' : value;
      },
    };
    candidates.push(candidate);
    expect(await candidate.next()).toBe('candidate');
    return candidate;
  };

  const holder = async (): Promise<string | null | undefined> => {
    const { client, connection } = await connect({ clock: new RealClock(), kubeconfig });
    const found = await client.get(LEASES, { namespace: 'default', name: lease });
    await connection.close();
    return found.spec?.holderIdentity;
  };

  it('one leads, and the other takes over at once when the first is asked to stop', async () => {
    const first = await start('first');
    expect(await first.next()).toBe('leads');
    expect(await holder()).toBe('first');
    const second = await start('second');
    first.process.kill('SIGTERM');
    expect(await first.next()).toBe('stops');
    expect(await second.next()).toBe('leads');
    expect(await holder()).toBe('second');
    expect(await first.next()).toBe('ended');
  });

  it('the other takes over, but not before the lease has run out, when the first is killed', async () => {
    const first = await start('first');
    expect(await first.next()).toBe('leads');
    const second = await start('second');
    const killedAt = performance.now();
    first.process.kill('SIGKILL');
    expect(await second.next()).toBe('leads');
    // The lease was renewed at most 400 ms (and a request) before the kill and lasts for 3 s after the other saw that.
    expect(performance.now() - killedAt).toBeGreaterThan(2000);
    expect(await holder()).toBe('second');
  });
});
