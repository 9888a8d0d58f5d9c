/** The world of one simulated life, and the actions that change it. */
import { CAPACITY_BUFFERS } from '../../src/apis/autoscaling/capacity-buffer.ts';
import { ANNOTATION_DO_NOT_DISRUPT } from '../../src/apis/karpenter/labels.ts';
import { NODE_CLAIMS } from '../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../src/apis/karpenter/node-pool.ts';
import { LIMIT_RANGES } from '../../src/apis/kubernetes/limit-range.ts';
import { NODES } from '../../src/apis/kubernetes/node.ts';
import { type KubeObject, keyOf, type ObjectKey, type Resource } from '../../src/apis/kubernetes/object.ts';
import { POD_DISRUPTION_BUDGETS } from '../../src/apis/kubernetes/pod-disruption-budget.ts';
import { POD_TEMPLATES } from '../../src/apis/kubernetes/pod-template.ts';
import { PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../../src/apis/kubernetes/volumes.ts';
import { DAEMON_SETS, DEPLOYMENTS, JOBS, STATEFUL_SETS } from '../../src/apis/kubernetes/workloads.ts';
import { SPOT_POLICIES, type SpotPolicy } from '../../src/apis/spindrift/spot-policy.ts';
import { STILL_MARKET } from '../../src/cloud/simulated/account-settings.ts';
import type { SimulatedInstance } from '../../src/cloud/simulated/simulated-instance.ts';
import type { FaultyClient } from '../../src/kube/testkit/faulty-client.ts';
import { type EpochMs, toTimestamp } from '../../src/platform/clock.ts';
import { hasCode } from '../../src/platform/errors.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { FleetWorld } from '../unit/controllers/testkit/fleet-world.ts';
import { troubledClient } from '../unit/controllers/testkit/troubled-client.ts';
import type { Deed } from './draw/happenings.ts';
import type { LifePlan } from './draw/life-plan.ts';
import { GENERAL } from './draw/pools.ts';
import { FIXED } from './draw/spare-capacity.ts';
import type { StatefulWorkload } from './draw/stateful-sets.ts';
import type { Workload } from './draw/workloads.ts';
import { type Refusal, refusingClient } from './refusing-client.ts';
import type { Scribe } from './scribe.ts';
import { putOnEachNode } from './static-pods.ts';

type Undoing = () => Promise<void>;

/** Faults between our process and the API server. */
interface Trouble {
  /** The share of calls that are lost, late or unanswered. */
  share: number;
  refusal: Refusal | undefined;
}

export class Stage {
  readonly world: FleetWorld;
  readonly plan: LifePlan;
  readonly #clients: FaultyClient[];
  readonly #trouble: Trouble;
  /** Pending reversals: each happens at its time, or when all faults end. */
  readonly #pending = new Set<Undoing>();
  #edits = 0;
  #calm = false;

  private constructor(world: FleetWorld, plan: LifePlan, clients: FaultyClient[], trouble: Trouble) {
    this.world = world;
    this.plan = plan;
    this.#clients = clients;
    this.#trouble = trouble;
  }

  /** Creates the initial pools, policies and workloads. */
  static async open(seed: string, plan: LifePlan, scribe: Scribe): Promise<Stage> {
    const random = seededRandom(seed).split('trouble');
    const clients: FaultyClient[] = [];
    const trouble: Trouble = { share: 0, refusal: undefined };
    const world = await FleetWorld.start({
      seed,
      account: plan.account,
      turnMs: plan.turnMs,
      slowHeartbeats: true,
      through: (client, clock) => {
        const refusing = refusingClient(scribe.through(client), clock, random, () => trouble.refusal);
        const faulty = troubledClient(refusing, clock, random, () => trouble.share, plan.lagMs);
        clients.push(faulty);
        return faulty;
      },
    });
    const stage = new Stage(world, plan, clients, trouble);
    scribe.follow(world);
    for (const pool of [...plan.pools, ...plan.spare.pools]) await world.client.create(NODE_POOLS, pool);
    for (const template of plan.spare.templates) await world.client.create(POD_TEMPLATES, template);
    for (const buffer of plan.spare.buffers) await world.client.create(CAPACITY_BUFFERS, buffer);
    for (const policy of plan.policies) await world.client.create(SPOT_POLICIES, policy);
    for (const daemon of plan.daemons) await world.client.create(DAEMON_SETS, daemon);
    await stage.#hide();
    for (const workload of plan.workloads) await stage.#deploy(workload);
    for (const storageClass of plan.storageClasses) await world.client.create(STORAGE_CLASSES, storageClass);
    for (const workload of plan.statefulSets) await stage.#deploySet(workload);
    return stage;
  }

  /** Executes one event; returns its object for the history. */
  async carryOut(deed: Deed): Promise<string> {
    const { world } = this;
    const { client, clock, cloud } = world;
    switch (deed.what) {
      case 'scale':
        return this.#scale(DEPLOYMENTS, deed.which, deed.replicas);
      case 'scale stateful set':
        return this.#scale(STATEFUL_SETS, deed.which, deed.replicas);
      case 'new workload':
        await this.#deploy(deed.workload);
        return deed.workload.deployment.metadata.name ?? '';
      case 'new stateful set':
        await this.#deploySet(deed.workload);
        return deed.workload.set.metadata.name ?? '';
      case 'delete workload':
        return this.#delete(DEPLOYMENTS, deed.which);
      case 'new job':
        await client.create(JOBS, deed.job);
        return deed.job.metadata.name ?? '';
      case 'interrupt': {
        const spot = this.#instances().filter(({ capacityType }) => capacityType === 'spot');
        const taken = Array.from({ length: Math.min(deed.machines, spot.length) }, (_, index) => {
          return spot[(deed.which + index) % spot.length] as SimulatedInstance;
        });
        for (const { providerID } of taken) cloud.interrupt(providerID, deed.noticeMs);
        return `${taken.map(({ id }) => id).join(', ')} in ${deed.noticeMs / 1000} s`;
      }
      case 'rebalance': {
        const instance = pick(this.#instances(), deed.which);
        if (instance === undefined) return 'nothing';
        for (let time = 0; time < deed.times; time++) cloud.announce(instance.providerID, 'rebalance', 'it may go');
        return `${instance.id} ${deed.times} times`;
      }
      case 'maintenance': {
        const instance = pick(this.#instances(), deed.which);
        if (instance === undefined) return 'nothing';
        const at = (clock.now() + deed.inMs) as EpochMs;
        cloud.announce(instance.providerID, 'scheduled-maintenance', 'it will be restarted', at);
        return `${instance.id} at ${toTimestamp(at)}`;
      }
      case 'exhaust':
        cloud.account('default')?.override({ ...deed.pattern, capacity: 0 });
        clock.setTimer(deed.forMs, () => cloud.account('default')?.restore(deed.pattern));
        return `${JSON.stringify(deed.pattern)} for ${deed.forMs / 60_000} min`;
      case 'price':
        cloud.account('default')?.override({ ...deed.pattern, priceFactor: deed.factor });
        return `${JSON.stringify(deed.pattern)} times ${deed.factor.toFixed(2)}`;
      case 'roll out':
        return this.#rollOut(DEPLOYMENTS, deed.which);
      case 'roll out stateful set':
        return this.#rollOut(STATEFUL_SETS, deed.which);
      case 'edit pool': {
        const pool = await this.#one(NODE_POOLS, deed.which);
        // A static pool has no weight.
        if (pool === undefined || (pool.spec.replicas !== undefined && 'weight' in deed.spec)) return 'nothing';
        await client.patch(NODE_POOLS, keyOf(pool), { type: 'merge', body: { spec: deed.spec } });
        return `${pool.metadata.name} ${JSON.stringify(deed.spec)}`;
      }
      case 'delete pool': {
        const others = (await client.list(NODE_POOLS)).items.filter(({ metadata }) => metadata.name !== GENERAL);
        const pool = pick(others, deed.which);
        if (pool === undefined) return 'nothing';
        await client.delete(NODE_POOLS, keyOf(pool), { propagationPolicy: 'Background' });
        return pool.metadata.name ?? '';
      }
      case 'cordon':
      case 'protect': {
        const node = await this.#one(NODES, deed.which);
        if (node === undefined) return 'nothing';
        const { name = '' } = node.metadata;
        const change = (on: boolean) =>
          deed.what === 'cordon'
            ? { spec: { unschedulable: on ? true : null } }
            : { metadata: { annotations: { [ANNOTATION_DO_NOT_DISRUPT]: on ? 'true' : null } } };
        await this.#patchNode(name, change(true));
        this.#pending.add(this.#after(deed.forMs, () => this.#patchNode(name, change(false))));
        return `${name} for ${deed.forMs / 60_000} min`;
      }
      case 'edit template': {
        const pool = await this.#one(NODE_POOLS, deed.which);
        if (pool === undefined) return 'nothing';
        const body = { spec: { template: { metadata: { labels: { edit: `${++this.#edits}` } } } } };
        await client.patch(NODE_POOLS, keyOf(pool), { type: 'merge', body });
        return pool.metadata.name ?? '';
      }
      case 'silence': {
        const node = await this.#one(NODES, deed.which);
        if (node === undefined) return 'nothing';
        const { name = '', uid } = node.metadata;
        world.cluster.kubelets.kill(name);
        this.#pending.add(this.#after(deed.forMs, () => this.#speakAgain(name, uid)));
        return `${name} for ${deed.forMs / 60_000} min`;
      }
      case 'broken hardware': {
        const node = await this.#one(NODES, deed.which);
        if (node === undefined) return 'nothing';
        const lastTransitionTime = toTimestamp(clock.now());
        const broken = { type: 'AcceleratedHardwareReady', status: 'False', reason: 'Broken', lastTransitionTime };
        const body = { status: { conditions: [broken] } };
        await client.patch(NODES, keyOf(node), { type: 'strategic', body }, { subresource: 'status' });
        return node.metadata.name ?? '';
      }
      case 'delete claim':
        return this.#delete(NODE_CLAIMS, deed.which);
      case 'delete node':
        return this.#delete(NODES, deed.which);
      case 'api trouble':
        this.#trouble.share = deed.share;
        clock.setTimer(deed.forMs, () => {
          this.#trouble.share = 0;
        });
        return `${deed.share * 100} % of the calls for ${deed.forMs / 60_000} min`;
      case 'refusals':
        this.#trouble.refusal = deed.refusal;
        clock.setTimer(deed.forMs, () => {
          if (this.#trouble.refusal === deed.refusal) this.#trouble.refusal = undefined;
        });
        return `${JSON.stringify(deed.refusal)} for ${deed.forMs / 60_000} min`;
      case 'cut watches':
        this.#clients.at(-1)?.cutWatches('broken');
        return 'all of them';
      case 'cloud trouble': {
        const { faults } = this.plan.account;
        this.#configure({ ...faults, ...deed.faults });
        clock.setTimer(deed.forMs, () => this.#configure(faults));
        return `${JSON.stringify(deed.faults)} for ${deed.forMs / 60_000} min`;
      }
      case 'scale pool':
        return this.#scaleIfThere(NODE_POOLS, { name: FIXED }, deed.replicas);
      case 'resize buffer':
        return this.#scaleIfThere(CAPACITY_BUFFERS, { namespace: 'default', name: deed.name }, deed.replicas);
      case 'kill':
        await world.killControllers();
        await clock.advance(deed.downMs);
        world.startControllers();
        return `down for ${deed.downMs / 1000} s`;
    }
  }

  /** Ends all faults: the cloud and the API server work, and everything is available at its usual price. */
  async calmDown(): Promise<void> {
    this.#trouble.share = 0;
    this.#trouble.refusal = undefined;
    this.#calm = true;
    this.#configure(this.plan.account.faults);
    this.world.cloud.account('default')?.restore({});
    for (const undoing of [...this.#pending]) await undoing();
    await this.#forgetRisk();
  }

  /** Learnt spot risk fades over hours and would keep changing the prices used in plans, so it is switched off. */
  async #forgetRisk(): Promise<void> {
    const { client } = this.world;
    const riskWeight = 0;
    for (const policy of (await client.list(SPOT_POLICIES)).items)
      await client.patch(SPOT_POLICIES, keyOf(policy), { type: 'merge', body: { spec: { riskWeight } } });
    const spec = { priority: -1, riskWeight };
    const other = { apiVersion: 'spindrift.dev/v1alpha1', kind: 'SpotPolicy', metadata: { name: 'others' }, spec };
    await client.create(SPOT_POLICIES, other as unknown as SpotPolicy);
  }

  /** Deletes all user objects, workloads first. */
  async clear(): Promise<void> {
    const kinds: readonly Resource[] = [
      DEPLOYMENTS,
      STATEFUL_SETS,
      PERSISTENT_VOLUME_CLAIMS,
      JOBS,
      DAEMON_SETS,
      POD_DISRUPTION_BUDGETS,
      CAPACITY_BUFFERS,
      POD_TEMPLATES,
      NODE_POOLS,
      SPOT_POLICIES,
      LIMIT_RANGES,
    ];
    for (const kind of kinds)
      for (const object of (await this.world.client.list(kind)).items)
        await this.world.client.delete(kind, keyOf(object), { propagationPolicy: 'Background' });
  }

  /** Sets up the conditions that no plan knows. */
  async #hide(): Promise<void> {
    const { client, lifetime } = this.world;
    const { heavyDaemon, staticPod, stillborn, crashing } = this.plan.hidden;
    if (heavyDaemon !== undefined) {
      await client.create(LIMIT_RANGES, heavyDaemon.range);
      await client.create(DAEMON_SETS, heavyDaemon.set);
    }
    if (stillborn !== undefined) await client.create(DEPLOYMENTS, stillborn);
    if (crashing !== undefined) await client.create(JOBS, crashing);
    if (staticPod !== undefined) putOnEachNode(client, staticPod, lifetime);
  }

  async #deploy({ deployment, budget }: Workload): Promise<void> {
    await this.world.client.create(DEPLOYMENTS, deployment);
    if (budget !== undefined) await this.world.client.create(POD_DISRUPTION_BUDGETS, budget);
  }

  async #deploySet({ set, budget }: StatefulWorkload): Promise<void> {
    await this.world.client.create(STATEFUL_SETS, set);
    if (budget !== undefined) await this.world.client.create(POD_DISRUPTION_BUDGETS, budget);
  }

  async #scale<T extends KubeObject>(kind: Resource<T>, which: number, replicas: number): Promise<string> {
    const found = await this.#one(kind, which);
    if (found === undefined) return 'nothing';
    await this.world.client.patch(kind, keyOf(found), { type: 'merge', body: { spec: { replicas } } });
    return `${found.metadata.name} to ${replicas}`;
  }

  async #scaleIfThere<T extends KubeObject>(kind: Resource<T>, key: ObjectKey, replicas: number): Promise<string> {
    try {
      await this.world.client.patch(kind, key, { type: 'merge', body: { spec: { replicas } } });
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) return 'nothing';
      throw error;
    }
    return `${key.name} to ${replicas}`;
  }

  async #rollOut<T extends KubeObject>(kind: Resource<T>, which: number): Promise<string> {
    const found = await this.#one(kind, which);
    if (found === undefined) return 'nothing';
    const body = { spec: { template: { metadata: { annotations: { release: `${++this.#edits}` } } } } };
    await this.world.client.patch(kind, keyOf(found), { type: 'merge', body });
    return found.metadata.name ?? '';
  }

  /** Machines that are not being removed. */
  #instances(): SimulatedInstance[] {
    return [...this.world.cloud.fleet.list()].filter(({ state }) => state === 'pending' || state === 'running');
  }

  async #one<T extends KubeObject>(kind: Resource<T>, which: number): Promise<T | undefined> {
    return pick((await this.world.client.list(kind)).items, which);
  }

  async #delete<T extends KubeObject>(kind: Resource<T>, which: number): Promise<string> {
    const found = await this.#one(kind, which);
    if (found === undefined) return 'nothing';
    await this.world.client.delete(kind, keyOf(found), { propagationPolicy: 'Background' });
    return found.metadata.name ?? '';
  }

  #configure(faults: LifePlan['account']['faults']): void {
    const { account } = this.plan;
    this.world.cloud.configure('default', { ...account, faults, ...(this.#calm ? { market: STILL_MARKET } : {}) });
  }

  /** Reverts something after this time, or earlier on request. */
  #after(ms: number, undo: () => Promise<void>): Undoing {
    const undoing = async (): Promise<void> => {
      if (!this.#pending.delete(undoing)) return;
      timer.cancel();
      await undo();
    };
    const timer = this.world.clock.setTimer(ms, () => void undoing());
    return undoing;
  }

  async #patchNode(name: string, body: object): Promise<void> {
    await this.world.client.patch(NODES, { name }, { type: 'merge', body }).catch((error: unknown) => {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    });
  }

  async #speakAgain(name: string, uid: string | undefined): Promise<void> {
    const node = await this.world.client.get(NODES, { name }).catch((error: unknown) => {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
      return undefined;
    });
    if (node?.metadata.uid !== uid) return;
    this.world.cluster.kubelets.revive(name);
  }
}

function pick<T>(items: readonly T[], which: number): T | undefined {
  return items[which % Math.max(1, items.length)];
}
