/** nodeadm, which boots AL2023 machines, and the metadata service it reads its user data from: the judges of ours. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, type Peer } from '../../peers/build-once.ts';

const NODEADM = 'github.com/awslabs/amazon-eks-ami/nodeadm/cmd/nodeadm@v0.0.0-20240229193347-cfab22a10647';
const METADATA_MOCK = 'github.com/aws/amazon-ec2-metadata-mock';
const METADATA_MOCK_VERSION = 'v1.12.0';

export const NODEADM_PEER: Peer = {
  name: 'nodeadm-20240229-metadata-mock-1.12.0',
  async build(directory, run) {
    const environment = { GOBIN: directory, GOTMPDIR: directory, GOFLAGS: '-trimpath' };
    await run('go', ['install', '-ldflags=-s -w', NODEADM], { cwd: directory, environment });
    // The mock's list of versions is not always served, so `go install` of it may fail: a module of its own does not ask.
    const options = { cwd: directory, environment };
    await run('go', ['mod', 'init', 'peer'], options);
    await run('go', ['mod', 'edit', '-require', `${METADATA_MOCK}@${METADATA_MOCK_VERSION}`], options);
    writeFileSync(join(directory, 'tools.go'), `//go:build tools\n\npackage peer\n\nimport _ "${METADATA_MOCK}/cmd"\n`);
    await run('go', ['mod', 'tidy'], options);
    await run('go', ['build', '-ldflags=-s -w', '-o', 'mock', `${METADATA_MOCK}/cmd`], options);
    renameSync(join(directory, 'mock'), join(directory, 'metadata-mock'));
    for (const file of ['tools.go', 'go.mod', 'go.sum']) rmSync(join(directory, file));
  },
};

export interface NodeadmFiles {
  readonly nodeadm: string;
  readonly metadataMock: string;
}

/** Both programs, built first if need be. */
export async function nodeadmFiles(): Promise<NodeadmFiles> {
  const directory = await buildOnce(NODEADM_PEER);
  return { nodeadm: join(directory, 'nodeadm'), metadataMock: join(directory, 'metadata-mock') };
}
