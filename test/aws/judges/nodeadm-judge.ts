/** Hands user data to the real nodeadm the way a machine gets it: through the metadata service. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeadmFiles } from '../peers/nodeadm.ts';
import { MetadataMock } from './metadata-mock.ts';

/** What nodeadm complains about in this user data (base64, as in a launch template); undefined when it accepts it. */
export async function nodeadmComplaint(userData: string): Promise<string | undefined> {
  const { nodeadm } = await nodeadmFiles();
  const directory = mkdtempSync(join(tmpdir(), 'spindrift-nodeadm-'));
  const config = join(directory, 'config.json');
  writeFileSync(config, JSON.stringify({ userdata: { values: { userdata: userData } } }));
  try {
    const mock = await MetadataMock.start(['spot', '--config-file', config]);
    try {
      return await check(nodeadm, mock.url);
    } finally {
      await mock.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
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
