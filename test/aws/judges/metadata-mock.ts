/** Amazon's own stand-in for the metadata service of an instance, as a process on a free port. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/platform/clock.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { freePorts } from '../../kubernetes/harness/free-ports.ts';
import { Guard } from '../../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import { untilAnswers } from '../../kubernetes/harness/until-so.ts';
import { nodeadmFiles } from '../peers/nodeadm.ts';

export class MetadataMock {
  /** What `--metadata-url` of an agent takes. */
  readonly url: string;
  readonly #process: ManagedProcess;
  readonly #guard: Guard;
  readonly #directory: string;

  private constructor(url: string, process: ManagedProcess, guard: Guard, directory: string) {
    this.url = url;
    this.#process = process;
    this.#guard = guard;
    this.#directory = directory;
  }

  /** Starts it with arguments of its own (`spot --action stop`), and resolves when it hands out tokens. */
  static async start(words: readonly string[], clock: Clock = new RealClock()): Promise<MetadataMock> {
    const { metadataMock } = await nodeadmFiles();
    const directory = mkdtempSync(join(tmpdir(), 'spindrift-metadata-'));
    const guard = new Guard({ directory });
    const { metadata } = await freePorts(['metadata']);
    const process = ManagedProcess.start({
      name: 'metadata mock',
      command: metadataMock,
      arguments: [...words, '--hostname', '127.0.0.1', '--port', String(metadata)],
      environment: { HOME: directory },
      logFile: join(directory, 'metadata-mock.log'),
      clock,
      guard,
      onFailure: () => undefined,
    });
    const mock = new MetadataMock(`http://127.0.0.1:${metadata}`, process, guard, directory);
    const headers = { 'X-aws-ec2-metadata-token-ttl-seconds': '60' };
    try {
      const ask = () => fetch(`${mock.url}/latest/api/token`, { method: 'PUT', headers });
      await untilAnswers(clock, { failure: () => process.failure }, ask);
    } catch (error) {
      await mock.stop();
      throw error;
    }
    return mock;
  }

  async stop(): Promise<void> {
    await this.#process.kill();
    this.#guard.dismiss();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
