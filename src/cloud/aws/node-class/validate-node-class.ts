/**
 * Checks by dry runs whether a node class can launch: it creates a launch template, and asks EC2 whether it would accept the fleet and the
 * instance. So problems are known before pods are pending.
 */
import type { Ec2NodeClass } from '../../../apis/aws/ec2-node-class.ts';
import { EC2_NODE_CLASSES } from '../../../apis/aws/ec2-node-class.ts';
import type { NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { InstanceType } from '../../../engine/problem.ts';
import type { RankedOffering } from '../../../engine/solution.ts';
import type { Clock } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { AwsApi } from '../api/aws-api.ts';
import { awsCodeOf } from '../api/aws-error.ts';
import type { ClusterDirectory } from '../cluster-directory.ts';
import { fleetRequest } from '../launch/fleet-request.ts';
import { launchPlan, type PlannedTemplate } from '../launch/launch-plan.ts';
import type { LaunchTemplates } from '../launch/launch-templates.ts';
import { claimTags, tagList } from '../launch/tags.ts';
import { failed, type Resolution, resolved, unresolved } from './resolution.ts';

const TYPE = 'ValidationSucceeded';
const KEPT_MS = 30 * 60_000;

export interface ValidationOptions {
  readonly api: AwsApi;
  readonly clock: Clock;
  readonly region: string;
  readonly cluster: string;
  readonly directory: ClusterDirectory;
  readonly templates: LaunchTemplates;
  /** The instance types that the class could launch. */
  readonly typesOf: (nodeClass: Ec2NodeClass, signal: AbortSignal) => Promise<readonly InstanceType[]>;
}

export class NodeClassValidation {
  readonly #options: ValidationOptions;
  /** By the input of a passed validation, so that it is not repeated each time. */
  readonly #passed = new Map<string, number>();

  constructor(options: ValidationOptions) {
    this.#options = options;
  }

  /** Validates with the status that the class is about to get. */
  async validate(nodeClass: Ec2NodeClass, others: readonly Resolution[], signal: AbortSignal): Promise<Resolution> {
    const missing = others.filter(({ condition }) => condition.status !== 'True');
    const [first] = missing;
    if (first !== undefined) {
      const status = missing.some(({ condition }) => condition.status === 'False') ? 'False' : 'Unknown';
      const message = `${missing.map(({ condition }) => condition.type).join(', ')} must be true first`;
      return { condition: { type: TYPE, status, reason: 'DependenciesNotReady', message } };
    }
    const key = keyOf(nodeClass);
    const now = this.#options.clock.elapsed();
    for (const [old, at] of this.#passed) if (now - at >= KEPT_MS) this.#passed.delete(old);
    if (this.#passed.has(key)) return resolved(TYPE);
    try {
      const result = await this.#try(nodeClass, signal);
      if (result.condition.status === 'True') this.#passed.set(key, now);
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (hasCode(error, 'CLOUD_USER_DATA_INVALID')) {
        const reason = /shorten/.test(error.message) ? 'UserDataSizeLimitExceeded' : 'UserDataInvalid';
        return unresolved(TYPE, reason, error.message);
      }
      return failed(TYPE, 'ValidationFailed', error);
    }
  }

  async #try(nodeClass: Ec2NodeClass, signal: AbortSignal): Promise<Resolution> {
    const { cluster, templates } = this.#options;
    const claim = imaginedClaim(nodeClass);
    const planned = await this.#plan(nodeClass, claim, signal);
    const override = planned?.overrides[0];
    if (planned === undefined || override === undefined) {
      const message =
        'no instance type has an image, a price and a subnet of this class: see amiSelectorTerms and subnetSelectorTerms';
      return unresolved(TYPE, 'NoInstanceTypes', message);
    }
    const tags = claimTags(nodeClass, claim, cluster);
    const name = await this.#check('CreateLaunchTemplateAuthCheckFailed', () =>
      templates.ensure(planned.data, planned.tags, signal),
    );
    if (typeof name !== 'string') return name;
    const fleet = await this.#dryRun('CreateFleetAuthCheckFailed', () =>
      this.#options.api.call(
        'ec2:CreateFleet',
        {
          ...fleetRequest({
            claimUID: claim.metadata.uid ?? '',
            attempt: 0,
            capacityType: 'on-demand',
            reservation: { kind: 'unsaid' },
            templates: new Map([[name, planned.overrides]]),
            onDemandStrategy: 'lowest-price',
            tags,
          }),
          ClientToken: undefined,
          DryRun: true,
        },
        signal,
      ),
    );
    if (fleet !== undefined) return fleet;
    const instance = await this.#dryRun('RunInstancesAuthCheckFailed', () =>
      this.#options.api.call(
        'ec2:RunInstances',
        {
          DryRun: true,
          MinCount: 1,
          MaxCount: 1,
          LaunchTemplate: { LaunchTemplateName: name, Version: '$Latest' },
          InstanceType: override.instanceType as never,
          NetworkInterfaces: [
            {
              DeviceIndex: 0,
              SubnetId: override.subnetId,
              Groups: (nodeClass.status?.securityGroups ?? []).map(({ id }) => id),
            },
          ],
          TagSpecifications: (['instance', 'volume', 'network-interface'] as const).map((ResourceType) => ({
            ResourceType,
            Tags: tagList(tags),
          })),
        },
        signal,
      ),
    );
    return instance ?? resolved(TYPE);
  }

  async #plan(nodeClass: Ec2NodeClass, claim: NodeClaim, signal: AbortSignal): Promise<PlannedTemplate | undefined> {
    const { directory, region, typesOf } = this.#options;
    const types = await typesOf(nodeClass, signal);
    const cheapest = types
      .flatMap((type) => type.offerings.map((offering) => ({ type, offering })))
      .filter(({ offering }) => offering.capacityType === 'on-demand')
      .reduce<{ type: InstanceType; offering: InstanceType['offerings'][number] } | undefined>(
        (best, each) => (best === undefined || each.offering.price < best.offering.price ? each : best),
        undefined,
      );
    if (cheapest === undefined) return undefined;
    const { zone, price } = cheapest.offering;
    const offering: RankedOffering = { instanceType: cheapest.type.name, zone, capacityType: 'on-demand', price };
    const [planned] = launchPlan({
      claim,
      nodeClass,
      step: { capacityType: 'on-demand', offerings: [offering] },
      reservation: { kind: 'unsaid' },
      cluster: await directory.facts(signal),
      region,
      typeOf: (name) => types.find((type) => type.name === name),
      subnets: new Map((nodeClass.status?.subnets ?? []).map((subnet) => [subnet.zone, subnet])),
    });
    return planned;
  }

  /** Undefined if EC2 would accept the call. */
  async #dryRun(reason: string, call: () => Promise<unknown>): Promise<Resolution | undefined> {
    const answer = await this.#check(reason, async () => {
      await call().catch((error) => {
        if (awsCodeOf(error) !== 'DryRunOperation') throw error;
      });
      return undefined;
    });
    return answer;
  }

  /** A missing permission or a rejected field becomes the condition. */
  async #check<T>(reason: string, call: () => Promise<T>): Promise<T | Resolution> {
    try {
      return await call();
    } catch (error) {
      if (hasCode(error, 'CLOUD_REFUSED') && /instance profile/i.test(error.message)) {
        // A new instance profile takes seconds to be visible to EC2.
        return failed(TYPE, 'InstanceProfileNotFound', new Error(error.message));
      }
      if (hasCode(error, 'CLOUD_DENIED', 'CLOUD_REFUSED')) return unresolved(TYPE, reason, error.message);
      throw error;
    }
  }
}

/** The same pool for every node class, so that the launch template is created once. */
function imaginedClaim({ metadata }: Ec2NodeClass): NodeClaim {
  const { group, kind } = EC2_NODE_CLASSES;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'validation', uid: 'validation', labels: { 'karpenter.sh/nodepool': 'validation' } },
    spec: { nodeClassRef: { group, kind, name: metadata.name ?? '' }, requirements: [], expireAfter: 'Never' },
  };
}

function keyOf({ metadata, spec, status }: Ec2NodeClass): string {
  const { subnets, securityGroups, amis, instanceProfile } = status ?? {};
  return JSON.stringify([metadata.uid, spec, subnets, securityGroups, amis, instanceProfile]);
}
