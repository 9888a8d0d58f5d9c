/** The AWS driver on the AWS ground, without a cluster around it. */
import { EC2_NODE_CLASSES, type Ec2NodeClass, type Ec2NodeClassSpec } from '../../../src/apis/aws/ec2-node-class.ts';
import { EC2_NODE_CLASS_SPEC } from '../../../src/apis/aws/ec2-node-class-schema.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../src/apis/karpenter/node-claim.ts';
import { type Written, withDefaults } from '../../../src/apis/schema/with-defaults.ts';
import type { AwsApi } from '../../../src/cloud/aws/api/aws-api.ts';
import { CallGate } from '../../../src/cloud/aws/api/call-gate.ts';
import { SdkApi } from '../../../src/cloud/aws/api/sdk-api.ts';
import type { AwsOptionValues } from '../../../src/cloud/aws/aws-options.ts';
import { resolveNodeClass } from '../../../src/cloud/aws/node-class/resolve-node-class.ts';
import { type AwsParts, assembleAws } from '../../../src/cloud/aws/open-aws.ts';
import type { CloudWorld } from '../../../src/cloud/cloud-module.ts';
import { KubeError } from '../../../src/kube/kube-error.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import { SILENT_LOGGER } from '../../../src/platform/logger.ts';
import { Metrics } from '../../../src/platform/metrics.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import type { AwsGround } from '../aws-ground.ts';
import type { Account } from '../aws-ground-types.ts';

export const CLUSTER = 'driver';
export const OPTIONS: AwsOptionValues = {
  awsCaBundle: 'Y2E=',
  awsMemoryOverhead: 0.075,
  awsReservedInterfaces: 0,
  awsIsolatedVpc: false,
  awsOnDemandStrategy: 'lowest-price',
};

export interface WorldOptions {
  readonly clock?: Clock;
  readonly wrap?: (api: AwsApi) => AwsApi;
  readonly nodeClasses?: Map<string, Ec2NodeClass>;
}

export class DriverWorld {
  readonly signal = new AbortController().signal;
  readonly nodeClasses = new Map<string, Ec2NodeClass>();
  readonly api: SdkApi;
  readonly account: Account;
  /** The claims that the informer knows. */
  readonly claims: NodeClaim[];
  readonly #parts: AwsParts;

  private constructor(
    account: Account,
    api: SdkApi,
    parts: AwsParts,
    nodeClasses: Map<string, Ec2NodeClass>,
    claims: NodeClaim[],
  ) {
    this.claims = claims;
    this.account = account;
    this.api = api;
    this.#parts = parts;
    this.nodeClasses = nodeClasses;
  }

  static async open(
    ground: AwsGround,
    account: Account,
    options: Partial<AwsOptionValues> = {},
    { clock = new RealClock(), wrap = (api) => api, nodeClasses = new Map() }: WorldOptions = {},
  ): Promise<DriverWorld> {
    const random = seededRandom('driver');
    const api = new SdkApi({
      region: ground.region,
      client: { endpoint: ground.endpoint, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } },
      gate: new CallGate(clock, random),
      clock,
    });
    const claims: NodeClaim[] = [];
    const informer = { list: () => [], get: ({ name }: { name: string }) => nodeClasses.get(name) };
    const client = {
      get: async () => {
        throw new KubeError({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          code: 404,
          reason: 'NotFound',
          status: 'Failure',
        });
      },
    };
    const world = {
      client,
      clock,
      random,
      logger: SILENT_LOGGER,
      metrics: new Metrics(),
      cluster: account.cluster,
      informers: {
        nodeClasses: informer,
        nodeClaims: { ...informer, list: () => claims },
        nodePools: informer,
        nodes: informer,
      },
    } as unknown as CloudWorld;
    const parts = assembleAws(world, { ...OPTIONS, ...options }, wrap(api), ground.region);
    return new DriverWorld(account, api, parts, nodeClasses, claims);
  }

  get cloud() {
    return this.#parts.cloud;
  }

  get parts(): AwsParts {
    return this.#parts;
  }

  /** A node class as an EKS user writes it, resolved. */
  async nodeClass(name: string, spec: Written<Ec2NodeClassSpec> = {}): Promise<Ec2NodeClass> {
    const written: Written<Ec2NodeClassSpec> = {
      role: this.account.nodeRole,
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': this.account.cluster } }],
      securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': this.account.cluster } }],
      ...spec,
    };
    const nodeClass: Ec2NodeClass = {
      apiVersion: `${EC2_NODE_CLASSES.group}/v1`,
      kind: 'EC2NodeClass',
      metadata: { name, uid: `uid-${name}`, generation: 1 },
      spec: withDefaults(EC2_NODE_CLASS_SPEC, written),
    };
    return this.resolve(nodeClass);
  }

  async resolve(nodeClass: Ec2NodeClass): Promise<Ec2NodeClass> {
    const resolutions = await resolveNodeClass(nodeClass, this.#parts.resolve, this.signal);
    const bad = resolutions.filter(({ condition }) => condition.status !== 'True');
    if (bad.length > 0) throw new Error(JSON.stringify(bad));
    const status = Object.assign({}, ...resolutions.map((each) => each.status ?? {}));
    const resolved = { ...nodeClass, status } as Ec2NodeClass;
    this.nodeClasses.set(nodeClass.metadata.name ?? '', resolved);
    return resolved;
  }
}

let claims = 0;

/** A claim of pool `default`. */
export function claimOf(nodeClass: string, requirements: NodeClaim['spec']['requirements'] = []): NodeClaim {
  const name = `default-${++claims}`;
  return {
    apiVersion: `${NODE_CLAIMS.group}/v1`,
    kind: 'NodeClaim',
    metadata: { name, uid: `uid-${name}`, labels: { 'karpenter.sh/nodepool': 'default', team: 'web' } },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: nodeClass },
      requirements,
      taints: [{ key: 'dedicated', value: 'web', effect: 'NoSchedule' }],
    },
  } as unknown as NodeClaim;
}
