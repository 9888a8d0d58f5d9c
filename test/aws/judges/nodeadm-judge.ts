/** Hands user data to the real nodeadm the way a machine gets it: through the metadata service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/platform/clock.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import { freePorts } from '../../kubernetes/harness/free-ports.ts';
import { Guard } from '../../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../../kubernetes/harness/managed-process.ts';
import { nodeadmFiles } from '../peers/nodeadm.ts';

const READY_MS = 20_000;
const POLL_MS = 50;

/** What nodeadm complains about in this user data (base64, as in a launch template); undefined when it accepts it. */
export async function nodeadmComplaint(userData: string): Promise<string | undefined> {
  const { nodeadm, metadataMock } = await nodeadmFiles();
  const directory = mkdtempSync(join(tmpdir(), 'spindrift-nodeadm-'));
  const guard = new Guard({ directory });
  const clock = new RealClock();
  const { metadata } = await freePorts(['metadata']);
  const config = join(directory, 'config.json');
  writeFileSync(config, JSON.stringify({ userdata: { values: { userdata: userData } } }));
  const mock = ManagedProcess.start({
    name: 'metadata mock',
    command: metadataMock,
    arguments: ['spot', '--hostname', '127.0.0.1', '--port', String(metadata), '--config-file', config],
    environment: { HOME: directory },
    logFile: join(directory, 'metadata-mock.log'),
    clock,
    guard,
    onFailure: () => undefined,
  });
  try {
    const endpoint = `http://127.0.0.1:${metadata}`;
    await untilServed(endpoint, mock, clock);
    return await check(nodeadm, endpoint);
  } finally {
    await mock.kill();
    guard.dismiss();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function untilServed(endpoint: string, mock: ManagedProcess, clock: Clock): Promise<void> {
  const deadline = clock.elapsed() + READY_MS;
  for (;;) {
    if (mock.failure !== undefined) throw mock.failure;
    const answer = await fetch(`${endpoint}/latest/user-data`).catch(() => undefined);
    if (answer?.ok) return;
    if (clock.elapsed() > deadline) throw new Error(`the metadata mock is not ready: ${answer?.status}`);
    await clock.sleep(POLL_MS);
  }
}

function check(nodeadm: string, endpoint: string): Promise<string | undefined> {
  const environment = {
    ...process.env,
    AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint,
    AWS_EC2_METADATA_DISABLED: 'false',
  };
  return new Promise((resolve) => {
    execFile(nodeadm, ['config', 'check', '-c', 'imds://user-data'], { env: environment }, (error, stdout, stderr) =>
      resolve(error === null ? undefined : `${stdout}${stderr}`.trim()),
    );
  });
}
