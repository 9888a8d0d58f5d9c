/** A cluster that only the test changes, as Spindrift or as someone else, with one invariant checking it. */
import type { KubeClient } from '../../../src/kube/client.ts';
import { FleetWorld } from '../../unit/controllers/testkit/fleet-world.ts';
import type { LifePlan } from '../draw/life-plan.ts';
import { Facts } from '../facts.ts';
import type { Invariant, InvariantMaker } from '../invariant.ts';
import { Scribe } from '../scribe.ts';

export class WatchedCluster {
  readonly world: FleetWorld;
  /** Writes through this client count as Spindrift's; writes of `world.client` count as someone else's. */
  readonly ours: KubeClient;
  readonly invariant: Invariant;
  /** The violations that the invariant reported. */
  readonly broken: string[] = [];

  private constructor(world: FleetWorld, scribe: Scribe, make: InvariantMaker, plan: Partial<LifePlan>) {
    this.world = world;
    this.ours = scribe.through(world.client);
    this.invariant = make(new Facts(world, plan as LifePlan), (sentence) => this.broken.push(sentence));
    scribe.follow(world);
    scribe.onWrite((write) => this.invariant.written?.(write));
  }

  static async start(make: InvariantMaker, plan: Partial<LifePlan>): Promise<WatchedCluster> {
    const world = await FleetWorld.start();
    await world.killControllers();
    return new WatchedCluster(world, new Scribe(), make, plan);
  }

  /** Advances time by a minute. */
  async minute(): Promise<void> {
    await this.world.clock.advance(60_000);
    this.invariant.minute?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.end();
  }
}
