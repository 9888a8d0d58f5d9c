import type { AwsGround } from '../../aws/aws-ground.ts';
import { AWS_CONTRACT, findClusterApiProviderAws } from './cluster-api-provider-aws.ts';
import { type ManagerPlace, ManagerProcess } from './manager-process.ts';

/**
 * Installs the kinds of CAPA and starts it with an AWS account on loopback. It uses leader election, as in an operator's cluster. The
 * controllers of EKS and of machine pools are off.
 */
export async function startAwsManager(place: ManagerPlace, ground: AwsGround): Promise<ManagerProcess> {
  const files = findClusterApiProviderAws();
  if (files === undefined) throw new Error('CAPA is not built: npm run peers:cluster-api-provider-aws');
  const services = ['ec2', 'sts', 'elasticloadbalancing', 'secretsmanager', 'ssm', 'tagging', 's3', 'sqs', 'events'];
  const endpoints = services.map((service) => `${service}=${ground.endpoint}`).join(',');
  return ManagerProcess.start({
    ...place,
    name: 'cluster-api-provider-aws',
    files,
    contract: AWS_CONTRACT,
    arguments: [
      ...['--leader-elect', '--leader-elect-namespace=default', `--service-endpoints=${ground.region}:${endpoints}`],
      ...['--feature-gates=EKS=false,MachinePool=false', '--v=2'],
    ],
    environment: ground.environment,
  });
}
