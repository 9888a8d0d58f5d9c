/** Tests that are steps of one story, on one cluster, whose logs are kept when a step fails. */
import { it } from 'vitest';

export interface Story {
  /** A test; a step that comes after a failed one would only tell of the same failure, and is skipped. */
  step(name: string, run: () => Promise<void>): void;
  /** Whether every step so far passed. */
  readonly passed: boolean;
}

export function story(): Story {
  let passed = true;
  return {
    step: (name, run) => {
      it(name, async (context) => {
        context.skip(!passed, 'a step before it failed');
        passed = false;
        await run();
        passed = true;
      });
    },
    get passed() {
      return passed;
    },
  };
}
