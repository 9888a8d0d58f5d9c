/** Learns the real memory of shapes from nodes that registered with the present images. */
import type { Ec2NodeClass } from '../../../apis/aws/ec2-node-class.ts';
import { AWS_GROUP } from '../../../apis/aws/labels.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { CloudController } from '../../cloud.ts';
import type { CloudWorld } from '../../cloud-module.ts';
import { imageSetOf } from './ec2-catalogue.ts';
import type { LearnedMemory } from './learned-memory.ts';

export function memoryLearner(learned: LearnedMemory, world: CloudWorld): CloudController {
  const { nodeClaims, nodes, nodeClasses } = world.informers;
  const learn = (claim: NodeClaim): void => {
    const { nodeClassRef } = claim.spec;
    const { nodeName, imageID } = claim.status ?? {};
    if (nodeClassRef.group !== AWS_GROUP || nodeName === undefined || imageID === undefined) return;
    const nodeClass = nodeClasses.get({ name: nodeClassRef.name }) as Ec2NodeClass | undefined;
    const node = nodes.get({ name: nodeName });
    if (nodeClass === undefined || node === undefined) return;
    // A node with an old image says nothing about new nodes.
    if (nodeClass.status?.amis?.some(({ id }) => id === imageID) === true) learned.learn(imageSetOf(nodeClass), node);
  };
  return {
    name: 'aws.memory',
    run: async (signal) => {
      for (const claim of nodeClaims.list()) learn(claim);
      const stop = nodeClaims.addHandler({ added: learn, updated: (claim) => learn(claim) });
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      stop();
    },
  };
}
