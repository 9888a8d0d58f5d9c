/** Adds nodes to the load balancer pools that their class names, and removes them before they are terminated. */
import type { IBMNodeClass } from '../../apis/ibm/ibm-node-class.ts';
import { isTrue } from '../../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import { type Clock, parseTimestamp } from '../../platform/clock.ts';
import { asError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CloudController } from '../cloud.ts';
import { apiRefusal } from './api/ibm-api.ts';
import type { VpcClient } from './api/vpc-client.ts';
import { parseProviderID } from './provider-id.ts';

type Target = NonNullable<NonNullable<IBMNodeClass['spec']['loadBalancerIntegration']>['targetGroups']>[number];

export interface LoadBalancersOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly claims: () => readonly NodeClaim[];
  readonly nodeClass: (name: string) => IBMNodeClass | undefined;
  readonly vpc: (region: string) => VpcClient;
}

const EVERY_MS = 15_000;
const CHANGE_WAIT_MS = 2000;
const CHANGE_TRIES = 30;

export class LoadBalancers implements CloudController {
  readonly name = 'ibm.loadbalancer';
  readonly #options: LoadBalancersOptions;
  /** `claim pool port` of members that became healthy, or were reported as unhealthy. */
  readonly #settled = new Set<string>();

  constructor(options: LoadBalancersOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.register(signal);
      await clock.sleep(EVERY_MS, signal).catch(() => {});
    }
  }

  /** Adds every registered node that is not a member yet. A failing load balancer does not delay the others. */
  async register(signal: AbortSignal): Promise<void> {
    const { claims, nodeClass, logger } = this.#options;
    for (const claim of claims()) {
      const { loadBalancerIntegration: wanted } = nodeClass(claim.spec.nodeClassRef.name)?.spec ?? {};
      if (wanted?.enabled !== true || claim.metadata.deletionTimestamp !== undefined || !isTrue(claim, 'Registered'))
        continue;
      for (const target of wanted.targetGroups ?? []) {
        const key = `${claim.metadata.uid} ${target.loadBalancerID} ${target.poolName} ${target.port}`;
        if (this.#settled.has(key)) continue;
        try {
          if (await this.#ensure(claim, target, wanted.registrationTimeout, signal)) this.#settled.add(key);
        } catch (error) {
          if (signal.aborted) return;
          logger.warn('a node could not be made a member of its load balancer', {
            claim: claim.metadata.name,
            balancer: target.loadBalancerID,
            error: asError(error),
          });
        }
      }
    }
  }

  /** True once the load balancer reports the node as healthy, or an event says that it does not. */
  async #ensure(claim: NodeClaim, target: Target, timeoutSeconds: number, signal: AbortSignal): Promise<boolean> {
    const { clock, recorder, vpc: vpcOf } = this.#options;
    const address = parseProviderID(claim.status?.providerID ?? '');
    if (address === undefined) return true;
    const vpc = vpcOf(address.region);
    const pool = await poolOf(vpc, target, signal);
    if (pool === undefined) {
      this.#say(
        claim,
        `there is no pool ${target.poolName} in load balancer ${target.loadBalancerID}: correct loadBalancerIntegration of the IBMNodeClass`,
      );
      return true;
    }
    const members = await vpc.poolMembers(target.loadBalancerID, pool.id, signal);
    const member = members.find((one) => one.target.id === address.id && one.port === target.port);
    if (member === undefined) {
      const wanted = { port: target.port, weight: target.weight, target: { id: address.id } };
      await this.#change(() => vpc.addPoolMember(target.loadBalancerID, pool.id, wanted, signal), signal);
      return false;
    }
    if (member.health === 'ok') return true;
    const since =
      parseTimestamp(claim.status?.conditions?.find(({ type }) => type === 'Registered')?.lastTransitionTime) ??
      clock.now();
    if (clock.now() - since < timeoutSeconds * 1000) return false;
    recorder.record({
      object: claim,
      type: 'Warning',
      reason: 'LoadBalancerUnhealthy',
      message: `load balancer ${target.loadBalancerID} finds the node ${member.health} after ${timeoutSeconds} s: look at the health check of pool ${target.poolName}`,
    });
    return true;
  }

  /** Removes a machine from the pools of its class, if the class wants that. */
  async deregister(nodeClass: IBMNodeClass, region: string, instanceId: string, signal: AbortSignal): Promise<void> {
    const { loadBalancerIntegration: wanted } = nodeClass.spec;
    if (wanted?.enabled !== true || !wanted.autoDeregister) return;
    const vpc = this.#options.vpc(region);
    for (const target of wanted.targetGroups ?? []) {
      const pool = await poolOf(vpc, target, signal);
      if (pool === undefined) continue;
      const members = await vpc.poolMembers(target.loadBalancerID, pool.id, signal);
      for (const { id } of members.filter((one) => one.target.id === instanceId))
        await this.#change(() => vpc.removePoolMember(target.loadBalancerID, pool.id, id, signal), signal);
    }
  }

  /** A load balancer accepts one change at a time and answers 409 until it is active again. */
  async #change(change: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await change();
        return;
      } catch (error) {
        if (apiRefusal(error)?.status !== 409 || tries === CHANGE_TRIES) throw error;
        await this.#options.clock.sleep(CHANGE_WAIT_MS, signal);
      }
    }
  }

  #say(claim: NodeClaim, message: string): void {
    this.#options.recorder.record({ object: claim, type: 'Warning', reason: 'LoadBalancerPoolNotFound', message });
  }
}

async function poolOf(vpc: VpcClient, { loadBalancerID, poolName }: Target, signal: AbortSignal) {
  return (await vpc.loadBalancerPools(loadBalancerID, signal)).find(({ name }) => name === poolName);
}
