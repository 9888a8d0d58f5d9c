/** Karpenter's AWS provider: the judge of our EC2 ground, the other side of a take-over, and the peer of the benchmark. */
import { cpSync, existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, type Peer } from '../../peers/build-once.ts';

const MODULE = 'github.com/aws/karpenter-provider-aws';
/** 1.14.1 asks for a commit of Karpenter's core that the module proxy does not serve. */
const VERSION = 'v1.14.0';

export const KARPENTER: Peer = {
  name: `karpenter-provider-aws-${VERSION.slice(1)}`,
  async build(directory, run) {
    const environment = { GOBIN: directory, GOTMPDIR: directory, GOFLAGS: '-trimpath' };
    await run('go', ['install', '-ldflags=-s -w', `${MODULE}/cmd/controller@${VERSION}`], {
      cwd: directory,
      environment,
    });
    renameSync(join(directory, 'controller'), join(directory, 'karpenter'));
    const download = await run('go', ['mod', 'download', '-json', `${MODULE}@${VERSION}`], { cwd: directory });
    const source = (JSON.parse(download) as { Dir: string }).Dir;
    cpSync(join(source, 'pkg', 'apis', 'crds'), join(directory, 'crds'), { recursive: true });
  },
};

export interface KarpenterFiles {
  readonly controller: string;
  /** The folder of its CustomResourceDefinitions. */
  readonly crds: string;
}

/** Karpenter's controller and CustomResourceDefinitions, built first if need be. */
export async function karpenterFiles(): Promise<KarpenterFiles> {
  const directory = await buildOnce(KARPENTER);
  const controller = join(directory, 'karpenter');
  if (!existsSync(controller)) throw new Error(`${directory} has no karpenter in it; remove the folder and try again`);
  return { controller, crds: join(directory, 'crds') };
}
