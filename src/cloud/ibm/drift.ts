/** How a machine differs from its node class, beyond the hash. Pure. */
import type { IBMNodeClass } from '../../apis/ibm/ibm-node-class.ts';
import { ANNOTATION_IBM_IMAGE, ANNOTATION_IBM_SECURITY_GROUPS, ANNOTATION_IBM_SUBNET } from '../../apis/ibm/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { Drift } from '../cloud.ts';
import type { Machine } from '../machine.ts';

/** The first drift, in upstream's order: image, subnet, security groups. An unknown value is not drift. */
export function ibmDrift(
  claim: NodeClaim,
  { status = {} }: IBMNodeClass,
  machine: Pick<Machine, 'imageID'>,
): Drift | undefined {
  const { annotations = {} } = claim.metadata;
  const { resolvedImageID, eligibleSubnets, resolvedSecurityGroups } = status;
  const image = annotations[ANNOTATION_IBM_IMAGE] ?? machine.imageID;
  if (image !== undefined && resolvedImageID !== undefined && image !== resolvedImageID)
    return { reason: 'ImageDrift', message: `the machine runs image ${image}, and its class has ${resolvedImageID}` };
  const subnet = annotations[ANNOTATION_IBM_SUBNET];
  if (subnet !== undefined && eligibleSubnets !== undefined && !eligibleSubnets.includes(subnet))
    return {
      reason: 'SubnetDrift',
      message: `the machine is in subnet ${subnet}, which its class does not use any more`,
    };
  const groups = annotations[ANNOTATION_IBM_SECURITY_GROUPS];
  const wanted = [...(resolvedSecurityGroups ?? [])].sort().join();
  if (groups !== undefined && resolvedSecurityGroups !== undefined && groups !== wanted)
    return {
      reason: 'SecurityGroupDrift',
      message: `the machine has the security groups ${groups}, and its class has ${wanted}`,
    };
  return undefined;
}
