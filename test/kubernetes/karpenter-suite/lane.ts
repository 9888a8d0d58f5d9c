/**
 * Runs specs one after the other on a ground of its own. A spec that does not pass may leave things behind, so the next
 * one gets a new ground.
 */
import { join } from 'node:path';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Guard } from '../harness/guard.ts';
import { Ground, type GroundOptions } from './ground.ts';
import { runSpec } from './run-spec.ts';
import type { Spec, SpecResult } from './spec.ts';

export interface LaneOptions extends Omit<GroundOptions, 'directory'> {
  readonly name: string;
  /** The folder of the run. */
  readonly directory: string;
  readonly suite: string;
  readonly clock: Clock;
  readonly guard: Guard;
  /** The next spec; undefined when there is none left. */
  next(): Spec | undefined;
  limitMsOf(spec: string): number;
  /** Called with each result, and the folder with everything that was said. */
  done(result: SpecResult, directory: string): void;
}

/** Resolves when there is no spec left. */
export async function runLane(options: LaneOptions): Promise<void> {
  const { name, directory, suite, clock, guard, contender } = options;
  let ground: Ground | undefined;
  let grounds = 0;
  let specs = 0;
  try {
    for (let spec = options.next(); spec !== undefined; spec = options.next()) {
      const groundDirectory = join(directory, `${name}-ground-${ground === undefined ? ++grounds : grounds}`);
      ground ??= await Ground.start({ ...options, directory: groundDirectory });
      const specDirectory = join(groundDirectory, `spec-${++specs}`);
      const result = await runSpec({
        ...{ suite, clock, guard, spec: spec.name, kubeconfig: ground.kubeconfig },
        options: contender.suiteOptions(groundDirectory, spec.name),
        directory: specDirectory,
        limitMs: options.limitMsOf(spec.name),
      });
      const ended = ground.failure;
      options.done(
        ended === undefined ? result : { ...result, outcome: 'failed', message: ended.message },
        specDirectory,
      );
      if (result.outcome === 'passed' && ended === undefined) continue;
      await ground.stop();
      ground = undefined;
    }
  } finally {
    await ground?.stop();
  }
}
